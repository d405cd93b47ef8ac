/**
 * Match the API reference's colours to the other pages. Swagger UI, which renders it, ignores the
 * system's colour scheme and has a class for dark mode instead.
 */
const root = document.documentElement;
const system = matchMedia("(prefers-color-scheme: dark)");

function colour() {
  const { theme } = root.dataset;
  root.classList.toggle("dark-mode", theme ? theme === "dark" : system.matches);
}

system.addEventListener("change", colour);
colour();
