// The terminal's colours, read from the tokens (styles/tokens.css): a probe element is
// given each one, so that the browser resolves what the theme in force makes of it.
import type { ITheme } from "@xterm/xterm";

const names = [
	"black",
	"red",
	"green",
	"yellow",
	"blue",
	"magenta",
	"cyan",
	"white",
	"brightBlack",
	"brightRed",
	"brightGreen",
	"brightYellow",
	"brightBlue",
	"brightMagenta",
	"brightCyan",
	"brightWhite",
] as const;

export function terminalTheme(): ITheme {
	const probe = document.createElement("i");
	probe.hidden = true;
	document.body.append(probe);
	const token = (name: string) => {
		probe.style.color = `var(${name})`;
		return getComputedStyle(probe).color;
	};
	const theme: ITheme = {
		background: token("--term-bg"),
		foreground: token("--term-fg"),
		cursor: token("--term-cursor"),
		cursorAccent: token("--term-bg"),
		selectionBackground: token("--term-selection"),
		scrollbarSliderBackground: token("--term-slider"),
		scrollbarSliderHoverBackground: token("--term-slider-hover"),
		scrollbarSliderActiveBackground: token("--term-slider-hover"),
	};
	names.forEach((name, at) => {
		theme[name] = token(`--ansi-${at}`);
	});
	probe.remove();
	return theme;
}
