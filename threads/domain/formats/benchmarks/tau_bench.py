"""tau-bench's results: a list of simulations, each a conversation of OpenAI's messages.

`{task_id, reward, info, traj, trial}`: `traj` are the messages, all else is what became of them
and stays as events. Source: github.com/sierra-research/tau-bench.
"""

from threads.domain.formats.kit.list_format import ListFormat, each, has_members
from threads.domain.formats.openai.messages import read_element

LIST_FORMAT = ListFormat(
    name="tau_bench",
    label="a tau-bench result",
    score=has_members("task_id", "reward", "traj", score=0.95),
    lists={"traj": each(read_element)},
    title=lambda said, words: f"Task {said['task_id']}, trial {said['trial']}: {words}",
)
FORMAT = LIST_FORMAT.format
