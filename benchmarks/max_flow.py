"""Maximum flow against PyMaxflow, on the networks of training on the Weizmann horses.

    pip install PyMaxflow numpy
    cargo build --release -p maxmargin-lab -F benchmarks --bin horses
    python3 benchmarks/max_flow.py target/release/horses [REPEATS]

Ours and theirs are measured one after the other, in the mean of REPEATS (200) times over all graphs;
ratios are those of processor times in this run. `solve` is the search alone, with
the network there: PyMaxflow's is built anew, outside the clock, since it cannot take a flow back.
`build` is building and solving. `again` sets all capacities of a network that is there to those of a
later w, the w of the row, and solves it: cold from nothing, warm going on from the flow of the row
above. PyMaxflow's interface cannot change edges; these are held against its `solve` and its `build`.
It can change ties and reuse its search trees: in `ties` the edges are those of the row, and only ties
change from those of the row above, in both with everything that takes.
"""

import subprocess
import sys
import time

import maxflow
import numpy as np


def read(program, repeats):
    """All rounds: passes, our times, and the networks."""
    output = subprocess.run(
        [program, "flows", str(repeats)], check=True, capture_output=True, text=True
    ).stdout
    rounds = []
    for line in output.splitlines():
        kind, *fields = line.split()
        if kind == "P":
            rounds.append({"passes": int(fields[0]), "solve": float(fields[2]), "build": float(fields[3]), "graphs": []})
        elif kind == "W":
            rounds[-1]["warm"] = float(fields[0])
            rounds[-1]["cold"] = float(fields[1])
        elif kind == "U":
            rounds[-1]["ties"] = float(fields[0])
        elif kind == "G":
            rounds[-1]["graphs"].append({"flow": float(fields[2]), "ties": [], "edges": []})
        elif kind == "T":
            rounds[-1]["graphs"][-1]["ties"].append(float(fields[0]))
        elif kind == "E":
            a, b, cost = fields
            rounds[-1]["graphs"][-1]["edges"].append((int(a), int(b), float(cost)))
    for found in rounds:
        for graph in found["graphs"]:
            graph["ties"] = np.array(graph["ties"])
            ends = np.array([edge[:2] for edge in graph["edges"]], dtype=np.int32)
            graph["ends"] = (np.ascontiguousarray(ends[:, 0]), np.ascontiguousarray(ends[:, 1]))
            graph["costs"] = np.array([edge[2] for edge in graph["edges"]])
    return rounds


def build(graph):
    """PyMaxflow's network, with one call for all ties and one for all edges."""
    ties, (a, b), costs = graph["ties"], graph["ends"], graph["costs"]
    network = maxflow.Graph[float](len(ties), len(costs))
    nodes = network.add_grid_nodes((len(ties),))
    network.add_grid_tedges(nodes, np.maximum(ties, 0), np.maximum(-ties, 0))
    network.add_edges(a, b, costs, costs)
    return network


def ties_again(graphs, before, repeats):
    """Seconds to go on from the ties of an earlier w to those of the graphs."""
    changes = []
    for graph, old in zip(graphs, before):
        ties, old = graph["ties"], old["ties"]
        source = np.maximum(ties, 0) - np.maximum(old, 0)
        sink = np.maximum(-ties, 0) - np.maximum(-old, 0)
        changes.append((np.arange(len(ties)), source, sink))
    seconds = 0.0
    for _ in range(repeats):
        networks = [build({**graph, "ties": old["ties"]}) for graph, old in zip(graphs, before)]
        for network in networks:
            network.maxflow()
        begin = time.process_time()
        flows = []
        for network, (nodes, source, sink) in zip(networks, changes):
            network.add_grid_tedges(nodes, source, sink)
            network.mark_grid_nodes(nodes)
            flows.append(network.maxflow(reuse_trees=True))
        seconds += (time.process_time() - begin) / repeats
    for graph, flow in zip(graphs, flows):
        assert abs(flow - graph["flow"]) < 1e-9 * max(1.0, abs(flow)), (flow, graph["flow"])
    return seconds


def main():
    repeats = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    rounds = read(sys.argv[1], repeats)
    print("| passes | ours: solve | build | again, cold | again, warm | theirs: solve | build | ratio solve | build | warm / their solve | warm / their build | ties, ours | theirs | ratio |")
    print("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|")
    for at, found in enumerate(rounds):
        graphs = found["graphs"]
        solve, both, worst = 0.0, 0.0, 0.0
        for _ in range(repeats):
            networks = [build(graph) for graph in graphs]
            begin = time.process_time()
            flows = [network.maxflow() for network in networks]
            solve += (time.process_time() - begin) / repeats
            begin = time.process_time()
            for graph in graphs:
                build(graph).maxflow()
            both += (time.process_time() - begin) / repeats
        for graph, flow in zip(graphs, flows):
            worst = max(worst, abs(flow - graph["flow"]) / max(1.0, abs(flow)))
        assert worst < 1e-12, worst
        n = len(graphs)
        cells = [1e6 * value / n for value in (found["solve"], found["build"])]
        warm = found.get("warm")
        text = " | ".join(f"{cell:.1f} µs" for cell in cells)
        again = [found["cold"], warm] if warm else []
        warm_text = " | ".join(f"{1e6 * value / n:.1f} µs" for value in again) or "– | –"
        ratios = [found["solve"] / solve, found["build"] / both]
        ratios = " | ".join(f"{ratio:.2f}" for ratio in ratios)
        warm_ratio = f"{warm / solve:.2f} | {warm / both:.2f}" if warm else "– | –"
        ties = "– | – | –"
        if warm:
            theirs = ties_again(graphs, rounds[at - 1]["graphs"], repeats)
            times = [1e6 * value / n for value in (found["ties"], theirs)]
            ties = f"{times[0]:.1f} µs | {times[1]:.1f} µs | {times[0] / times[1]:.2f}"
        print(
            f"| {found['passes']} | {text} | {warm_text} | {1e6 * solve / n:.1f} µs | "
            f"{1e6 * both / n:.1f} µs | {ratios} | {warm_ratio} | {ties} |"
        )
    print(f"\n{len(rounds[0]['graphs'])} graphs; flows agree to 1e-12.")


if __name__ == "__main__":
    main()
