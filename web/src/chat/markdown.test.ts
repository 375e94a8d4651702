import hljs from "highlight.js/lib/core";
import go from "highlight.js/lib/languages/go";
import { expect, test } from "vitest";
import { lex, lexOn, type Piece, pieces, plainText, safeLink } from "./markdown";

const sample = `# Harbour

Some *words* and \`code\`, a [link](https://example.com).

1. one
2. two

   still two

- a
- b

\`\`\`go
func lamp() bool {
	return true
}
\`\`\`

| a | b |
| - | - |
| 1 | 2 |

> quoted
> twice

<script>alert(1)</script>

The end.
`;

const kinds = (text: string) => lex(text).tokens.map((t) => [t.type, t.raw]);

test("a text that grows lexes as the whole does, however it is cut", () => {
	for (const step of [1, 3, 7, 40]) {
		let lexed = null;
		for (let end = 0; end < sample.length; end += step) lexed = lexOn(lexed, sample.slice(0, end));
		lexed = lexOn(lexed, sample);
		expect(lexed.tokens.map((t) => [t.type, t.raw])).toEqual(kinds(sample));
	}
});

test("blocks that are done stay the same objects", () => {
	const before = lexOn(null, sample);
	const after = lexOn(before, `${sample}More.`);
	expect(after.tokens[0]).toBe(before.tokens[0]);
});

test.each([
	["https://example.com/a", "https://example.com/a"],
	["mailto:ada@example.invalid", "mailto:ada@example.invalid"],
	["javascript:alert(1)", null],
	["JaVaScRiPt:alert(1)", null],
	[" javascript:alert(1)", null],
	["data:text/html,x", null],
	["file:///etc/passwd", null],
	["internal/lamp.go", null],
	["//example.com", null],
	["", null],
])("a link to %s", (href, want) => {
	expect(safeLink(href)).toBe(want);
});

test("highlighted code reads back as the code", () => {
	hljs.registerLanguage("go", go);
	const code = 'if a < b && c > "d" { return \'x\' } // <span class="no"> &amp;';
	const got = pieces(hljs.highlight(code, { language: "go" }).value);
	const text = (of: readonly Piece[]): string =>
		of.map((piece) => (typeof piece === "string" ? piece : text(piece.of))).join("");
	expect(text(got)).toBe(code);
	expect(got.some((piece) => typeof piece !== "string" && piece.class.includes("hljs-keyword"))).toBe(true);
});

test("what is no span of a highlighter is text", () => {
	expect(pieces('<img src=x onerror="alert(1)">a</span>b')).toEqual(['<img src=x onerror="alert(1)">ab']);
	expect(plainText("&lt;b&gt; &amp;lt;")).toBe("<b> &lt;");
});
