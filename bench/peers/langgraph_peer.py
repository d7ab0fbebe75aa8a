"""Ten reads side by side as a LangGraph graph, as its documentation writes a fan-out by Send. Called by this folder's Go program."""
import json
import operator
import resource
import sqlite3
import sys
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, TypedDict

import httpx
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Send

what, runs, in_flight, saver, address, domain = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), *sys.argv[4:7]
web = httpx.Client(limits=httpx.Limits(max_connections=None, max_keepalive_connections=700), timeout=None)


class State(TypedDict):
    names: list[str]
    values: Annotated[list[int], operator.add]


def fan_out(state):
    return [Send("read", {"name": n}) for n in state["names"]]


def read(state):
    answer = web.post(domain + "/execute", json={"capability": "read_gauge", "parameters": {"name": state["name"]}}).json()
    return {"values": [answer["facts"]["value"]]}


def graph(checkpointer):
    g = StateGraph(State)
    g.add_node("read", read)
    g.add_conditional_edges(START, fan_out, ["read"])
    g.add_edge("read", END)
    return g.compile(checkpointer=checkpointer)


def checkpointer():
    if saver == "sqlite":
        connection = sqlite3.connect(address, check_same_thread=False)
        made = SqliteSaver(connection)
    else:
        from langgraph.checkpoint.postgres import PostgresSaver
        from psycopg.rows import dict_row
        from psycopg_pool import ConnectionPool

        pool = ConnectionPool(address, min_size=8, max_size=64, kwargs={"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row})
        made = PostgresSaver(pool)
    made.setup()
    return made


compiled = graph(checkpointer())


def one(_=None, thread=None, names=None):
    names = names or ["g-%02d" % (i + 1) for i in range(10)]
    begun = time.perf_counter()
    compiled.invoke({"names": names, "values": []}, {"configurable": {"thread_id": thread or str(uuid.uuid4())}}, durability="sync")
    return (time.perf_counter() - begun) * 1000


if what == "hold":
    one(thread="held", names=["g-%02d" % (i + 1) for i in range(9)] + ["hold"])
elif what == "resume":  # the author's own program has to know which threads were interrupted
    compiled.invoke(None, {"configurable": {"thread_id": "held"}}, durability="sync")
else:
    with ThreadPoolExecutor(in_flight) as pool:
        list(pool.map(one, range(runs // 10)))
        cpu, begun = time.process_time(), time.perf_counter()
        took = sorted(pool.map(one, range(runs)))
        seconds = time.perf_counter() - begun
        print(json.dumps({"per_second": runs / seconds, "p50_ms": took[len(took) // 2], "p99_ms": took[len(took) * 99 // 100],
                          "cpu_ms": (time.process_time() - cpu) * 1000 / runs}))
