/**
 * The API's reference in light or dark, as the other pages are. Swagger UI, which draws it, does not
 * look at the system's colours: it has a class for the dark ones.
 */
const root = document.documentElement;
const system = matchMedia("(prefers-color-scheme: dark)");

function colour() {
  const { theme } = root.dataset;
  root.classList.toggle("dark-mode", theme ? theme === "dark" : system.matches);
}

system.addEventListener("change", colour);
colour();
