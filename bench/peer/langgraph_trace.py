#!/usr/bin/env python3
"""Plays the steps of logistics.compare_carriers as a LangGraph graph, against the same domain, and prints what LangGraph tells of it.

    python3 -m venv venv && venv/bin/pip install langgraph==1.0.3
    go run ./examples/cmd/example-domain logistics -addr 127.0.0.1:8095 -delay 200ms &
    venv/bin/python bench/peer/langgraph_trace.py http://127.0.0.1:8095 [--maintenance] [--raw]

--maintenance takes the safety source into maintenance first: one branch fails. --raw prints every event of the trace instead of the summary.
It is written as the LangGraph documentation writes such graphs: a node for each source, a reducer that gathers what they return, a fan-out to
one node for each carrier by Send, a checkpointer in memory, and the trace by stream_mode="debug". Not part of any test.
"""
import json
import operator
import sys
import time
import urllib.request
from typing import Annotated, TypedDict

from langgraph.checkpoint.memory import MemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Send

URL = sys.argv[1] if len(sys.argv) > 1 and not sys.argv[1].startswith("-") else "http://127.0.0.1:8095"
SOURCES = {"safety": "check_carrier_safety", "pay": "get_carrier_pay", "reviews": "get_carrier_reviews", "turnover": "get_carrier_turnover"}


def call(capability, parameters, key=None):
    body = json.dumps({"capability": capability, "parameters": parameters, "context": {"idempotency_key": key or "", "principal": {"id": "dana"}}})
    request = urllib.request.Request(URL + "/execute", body.encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as response:
        result = json.load(response)
    if not result["ok"]:
        raise RuntimeError(f"{result['error']['type']}: {result['error']['message']}")
    return result["facts"]


class State(TypedDict, total=False):
    asked: list
    carriers: list
    found: Annotated[list, operator.add]  # (source, facts)
    lost: Annotated[list, operator.add]
    ranking: dict
    choice: dict


def shortlist(state):
    return {"carriers": call("shortlist_carriers", {"carriers": state["asked"]})["rows"]}


def fan_out(state):
    region = state["carriers"][0]["region"]
    return [Send(s, {"carrier": c["dot"]}) for s in SOURCES for c in state["carriers"]] + [Send("market", {"region": region}), Send("roads", {"region": region})]


def read(source, capability, parameter):
    def node(state):
        try:  # without this the first failure ends the graph, and what the other branches found is lost
            return {"found": [(source, call(capability, {parameter: state[parameter]}))]}
        except RuntimeError as error:
            return {"lost": [f"{source}: {error}"]}
    return node


def rank(state):
    of = {s: [f for source, f in state["found"] if source == s] for s in SOURCES}
    market = [f for source, f in state["found"] if source == "market"]
    return {"ranking": call("rank_carriers", {"carriers": state["carriers"], **of, **({"market": market[0]["rows"]} if market else {})})}


def recommend(state):
    return {"choice": call("take_first", {"options": state["ranking"]["options"]})}


def build():
    graph = StateGraph(State)
    graph.add_node("shortlist", shortlist)
    for source, capability in SOURCES.items():
        graph.add_node(source, read(source, capability, "carrier"), input_schema=dict)
    graph.add_node("market", read("market", "get_regional_analysis", "region"), input_schema=dict)
    graph.add_node("roads", read("roads", "get_road_conditions", "region"), input_schema=dict)
    graph.add_node("rank", rank)
    graph.add_node("recommend", recommend)
    graph.add_edge(START, "shortlist")
    graph.add_conditional_edges("shortlist", fan_out, [*SOURCES, "market", "roads"])
    for source in [*SOURCES, "market", "roads"]:
        graph.add_edge(source, "rank")
    graph.add_edge("rank", "recommend")
    graph.add_edge("recommend", END)
    return graph.compile(checkpointer=MemorySaver())


def main():
    if "--maintenance" in sys.argv:
        call("set_source_state", {"source": "safety", "state": "maintenance"}, key=f"peer-{time.time()}")
    graph, begun = build(), time.monotonic()
    config = {"configurable": {"thread_id": "1"}}
    events = list(graph.stream({"asked": ["Cedar Line Transport"], "found": [], "lost": []}, config, stream_mode="debug"))
    took = time.monotonic() - begun
    if "--raw" in sys.argv:
        for event in events:
            print(json.dumps(event, default=str)[:400])
        return
    kinds = {}
    for event in events:
        kinds.setdefault(event["type"], []).append(event)
    for kind, of in kinds.items():
        print(f"{len(of):3} events {kind}: {sorted(of[0])}; payload {sorted(of[0]['payload'])}")
    print("\nstep  node       error  result")
    for event in kinds["task_result"]:
        p = event["payload"]
        print(f"{event['step']:4}  {p['name']:9}  {p['error'] or '-':5}  {json.dumps(p['result'], default=str)[:90]}")
    final = graph.get_state(config).values
    print(f"\nanswer: {final['choice']['reason']}\nlost: {final['lost']}\nwall time {took:.2f} s")


if __name__ == "__main__":
    main()
