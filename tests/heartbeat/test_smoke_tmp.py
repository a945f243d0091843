from pathlib import Path
from heart_kit import House, NO_BOX
from loopx_engine.model.todo import Todo
import pytest

@pytest.mark.parametrize("box", [None, NO_BOX])
def test_once(tmp_path, box):
    house = House(tmp_path)
    goal, todo = house.ready()
    import time
    t=time.monotonic(); house.once(box=box); print(time.monotonic()-t)
    assert house.todo_now(todo).state == "done"
    print([e for e in house.events])
    house.sound()
