// Command davit launches coding agents, each into its own workspace, and keeps their
// terminals alive.
package main

import (
	"os"

	"davit/internal/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:])) }
