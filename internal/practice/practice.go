package practice

import "io"

// Main runs the hidden command `davit practice-agent`. The arguments are those after
// the command's name, the environment is as of os.Environ. It gives the exit status.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer, env []string) int {
	return 0
}
