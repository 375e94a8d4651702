// An agent's markdown, drawn while it streams: blocks that are done are not drawn again.
// Elements are made from tokens, never from HTML; an image is a link to it, because the
// page loads nothing from the network.
import { useSignal } from "@preact/signals";
import { Check, Copy } from "lucide";
import type { Token, Tokens } from "marked";
import type { ComponentChildren, VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { highlighter, wantHighlighter } from "../chat/highlighter";
import { type Lexed, lex, lexOn, mostMarkdown, plainText, safeLink } from "../chat/markdown";
import { copy } from "../state/actions";
import { kept } from "./chatkept";
import { Icon } from "./icon";
import { Pieces } from "./pieces";
import "../styles/diff.css";

export interface MarkdownProps {
	text: string;
	/** More of it may come. */
	streaming: boolean;
}

export const Markdown = kept(function Markdown({ text, streaming }: MarkdownProps) {
	const lexed = useRef<Lexed | null>(null);
	if (text.length > mostMarkdown) return <pre class="md md-raw">{text}</pre>;
	lexed.current = streaming ? lexOn(lexed.current, text) : lex(text);
	return (
		<div class="md">
			{lexed.current.tokens.map((token, at) =>
				token.type === "space" ? null : <Block key={String(at)} token={token} raw={token.raw} />,
			)}
		</div>
	);
});

/** Drawn again only when its source is another one; the whole is lexed anew in the end. */
const Block = kept(function Block({ token }: { token: Token; raw: string }) {
	return block(token as Tokens.Generic & Token);
});

function block(token: Token): VNode | null {
	switch (token.type) {
		case "heading": {
			const depth = (token as Tokens.Heading).depth;
			const words = inline((token as Tokens.Heading).tokens);
			// The page has its own h1 and h2: a message's headings lie below them.
			return depth === 1 ? <h3 class="md-h1">{words}</h3> : depth === 2 ? <h4>{words}</h4> : <h5>{words}</h5>;
		}
		case "paragraph":
			return <p>{inline((token as Tokens.Paragraph).tokens)}</p>;
		case "code":
			return <CodeBlock code={(token as Tokens.Code).text} language={(token as Tokens.Code).lang ?? ""} />;
		case "blockquote":
			return <blockquote>{blocks((token as Tokens.Blockquote).tokens)}</blockquote>;
		case "list":
			return list(token as Tokens.List);
		case "table":
			return table(token as Tokens.Table);
		case "hr":
			return <hr />;
		case "space":
		case "def":
			return null;
		case "text": {
			const text = token as Tokens.Text;
			return <>{text.tokens ? inline(text.tokens) : plainText(text.text)}</>;
		}
		default:
			return <p class="md-raw">{token.raw.trimEnd()}</p>;
	}
}

function blocks(tokens: readonly Token[]): ComponentChildren {
	return tokens.map((token) => block(token));
}

function list(token: Tokens.List): VNode {
	const items = token.items.map((item) => (
		<li class={item.task ? "md-task" : undefined}>
			{item.task && <input type="checkbox" checked={item.checked ?? false} disabled aria-label="Task" />}
			{blocks(item.tokens.filter((t) => t.type !== "checkbox"))}
		</li>
	));
	return token.ordered ? <ol start={Number(token.start) || 1}>{items}</ol> : <ul>{items}</ul>;
}

function table(token: Tokens.Table): VNode {
	const align = (at: number) => ({ textAlign: token.align[at] ?? "left" }) as const;
	return (
		// biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard
		<section class="md-table" tabIndex={0} aria-label="Table">
			<table>
				<thead>
					<tr>
						{token.header.map((cell, at) => (
							<th style={align(at)}>{inline(cell.tokens)}</th>
						))}
					</tr>
				</thead>
				<tbody>
					{token.rows.map((row) => (
						<tr>
							{row.map((cell, at) => (
								<td style={align(at)}>{inline(cell.tokens)}</td>
							))}
						</tr>
					))}
				</tbody>
			</table>
		</section>
	);
}

function inline(tokens: readonly Token[] | undefined): ComponentChildren {
	return (tokens ?? []).map((token) => {
		switch (token.type) {
			case "strong":
				return <strong>{inline(token.tokens)}</strong>;
			case "em":
				return <em>{inline(token.tokens)}</em>;
			case "del":
				return <del>{inline(token.tokens)}</del>;
			case "codespan":
				return <code>{plainText((token as Tokens.Codespan).text)}</code>;
			case "br":
				return <br />;
			case "link":
				return <Link href={(token as Tokens.Link).href}>{inline(token.tokens)}</Link>;
			case "image": {
				const image = token as Tokens.Image;
				return <Link href={image.href}>{image.text || "image"}</Link>;
			}
			case "escape":
				return (token as Tokens.Escape).text;
			case "text":
				return token.tokens ? inline(token.tokens) : plainText((token as Tokens.Text).text);
			case "html":
				return /^<br\s*\/?>$/i.test(token.raw) ? <br /> : token.raw;
			default:
				return token.raw;
		}
	});
}

function Link({ href, children }: { href: string; children: ComponentChildren }) {
	const safe = safeLink(href);
	if (safe === null) return <span data-tip={href}>{children}</span>;
	return (
		<a href={safe} target="_blank" rel="noopener noreferrer" data-tip={safe}>
			{children}
		</a>
	);
}

// Code.

const mostHighlighted = 60_000;

export function CodeBlock({ code, language }: { code: string; language: string }) {
	const word = language.trim().split(/\s+/)[0]?.toLowerCase() ?? "";
	useEffect(() => {
		if (word !== "") wantHighlighter();
	}, [word]);
	const wanted = word !== "" && code.length <= mostHighlighted;
	const coloured = wanted ? (highlighter.value?.highlight(code, word) ?? null) : null;
	return (
		<figure class="code">
			<figcaption>
				<span>{word}</span>
				<CopyButton text={code} what="code" />
			</figcaption>
			{/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard */}
			<pre tabIndex={0} aria-label={word ? `Code: ${word}` : "Code"}>
				<code>{coloured ? <Pieces of={coloured} /> : code}</code>
			</pre>
		</figure>
	);
}

export function CopyButton({ text, what }: { text: string; what: string }) {
	const done = useSignal(false);
	return (
		<button
			type="button"
			class="icon-button small"
			aria-label={`Copy ${what}`}
			data-tip={`Copy ${what}`}
			onClick={async () => {
				await copy(text, "Copied");
				done.value = true;
				setTimeout(() => {
					done.value = false;
				}, 1200);
			}}
		>
			<Icon of={done.value ? Check : Copy} size={14} />
		</button>
	);
}
