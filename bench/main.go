// Command bench measures Manifold and prints the figures of README.md as
// Markdown: go run ./bench. The same measurements are Go benchmarks, for those
// who change the code: go test -bench . ./bench.
package main

func main() {}
