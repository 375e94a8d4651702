import { expect, test } from "vitest";
import { oneLine, sentences } from "./sentences";

test("a message and its hint are sentences of their own", () => {
	expect(
		sentences("Practice agent ended with signal SIGSEGV", "see the chat's last rows, or start a new one"),
	).toBe("Practice agent ended with signal SIGSEGV. See the chat's last rows, or start a new one.");
	expect(sentences("It is gone.", undefined, " ")).toBe("It is gone.");
	expect(sentences("really?", "davit doctor tells more")).toBe("Really? davit doctor tells more.");
	expect(sentences("/srv/x is no directory", "`git init` makes one")).toBe(
		"/srv/x is no directory. `git init` makes one.",
	);
	expect(sentences()).toBe("");
});

test("a text of several lines is one whose line ends are to be seen", () => {
	expect(oneLine("red\ngreen\r\nblue\n")).toBe("red ⏎ green ⏎ blue ⏎");
	expect(oneLine("red")).toBe("red");
});
