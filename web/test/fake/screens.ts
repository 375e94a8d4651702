// Canned terminal content for the fake host.
const esc = "\x1b[";

export const shell =
	`${esc}38;5;110m~/code/harbor${esc}0m ${esc}2mon${esc}0m ${esc}35mmain${esc}0m\r\n$ git status --short\r\n` +
	` ${esc}31mM${esc}0m internal/signal/lamp.go\r\n ${esc}31mM${esc}0m internal/signal/lamp_test.go\r\n${esc}31m??${esc}0m notes.md\r\n` +
	`$ go vet ./... && echo ${esc}32m"clean"${esc}0m\r\nclean\r\n$ ls -la --color\r\n` +
	`drwxr-xr-x  4 ada ada 4096 Nov 30 ${esc}1;34minternal${esc}0m\r\n-rwxr-xr-x  1 ada ada  812 Nov 30 ${esc}1;32mbuild.sh${esc}0m\r\n-rw-r--r--  1 ada ada 2048 Nov 30 README.md\r\n` +
	`┌──────────┬───────┐\r\n│ lamp     │ ✔ lit │\r\n│ signal   │ ● on  │\r\n└──────────┴───────┘\r\n$ `;

export const tests =
	`$ go test ./...\r\n${esc}32mok${esc}0m   harbor/internal/chart   0.412s\r\n${esc}32mok${esc}0m   harbor/internal/rope    0.120s\r\n` +
	`${esc}31mFAIL${esc}0m harbor/internal/signal  1.034s\r\n    lamp_test.go:41: lamp is ${esc}33mdark${esc}0m, want ${esc}33mlit${esc}0m\r\n`;

export const agent =
	`${esc}2m╭──────────────────────────────────────────────╮${esc}0m\r\n${esc}2m│${esc}0m ${esc}1mPractice agent${esc}0m  scripted, no model           ${esc}2m│${esc}0m\r\n${esc}2m╰──────────────────────────────────────────────╯${esc}0m\r\n\r\n` +
	`${esc}36m>${esc}0m Teach the harbour to signal\r\n\r\n${esc}32m●${esc}0m Reading ${esc}4minternal/signal/lamp.go${esc}0m\r\n${esc}32m●${esc}0m Editing 12 files ${esc}32m+318${esc}0m ${esc}31m−94${esc}0m\r\n${esc}33m◌${esc}0m Running the tests…\r\n`;
