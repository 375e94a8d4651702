// The typed client of the API: one operation, one name, one POST /v1/<name> (spec
// interfaces A1.1). It sends the login's key beside the cookie (A2.1) and turns problem
// documents (A1.4) into Problem. It retries nothing: who asks decides.
import type { paths } from "./schema.gen";
import type { Fail, LoggedIn } from "./types";

type Json<T> = T extends { content: { "application/json": infer B } } ? B : Record<string, never>;
type Post<N extends OperationName> = paths[`/v1/${N}`] extends { post: infer P } ? P : never;

/** The operations that the description names. */
export type OperationName = {
	[P in keyof paths]: P extends `/v1/${infer N}` ? (paths[P] extends { post: object } ? N : never) : never;
}[keyof paths];

export type Request<N extends OperationName> =
	Post<N> extends { requestBody: infer B } ? Json<B> : Record<string, never>;

export type Answer<N extends OperationName> =
	Post<N> extends { responses: { 200: infer R } } ? Json<R> : undefined;

/** What a refused operation is thrown as. */
export class Problem extends Error implements Fail {
	readonly code: string;
	readonly hint?: string;
	readonly details?: { [key: string]: unknown };

	constructor(
		readonly status: number,
		fail: Fail,
	) {
		super(fail.message);
		this.name = "Problem";
		this.code = fail.code;
		this.hint = fail.hint;
		this.details = fail.details;
	}
}

/** What this page can do, for the header of spec launch L1.2. */
const capabilities = "agent.launch.v2, agent.launch.prompt-unconfirmed.v1, agentSession.render.v1";

export interface ClientConfig {
	key: () => string | null;
	onUnauthorized: () => void;
	fetch?: typeof fetch;
}

export class Client {
	constructor(private readonly config: ClientConfig) {}

	async call<N extends OperationName>(name: N, body: Request<N>): Promise<Answer<N>> {
		return (await this.post(name, body)) as Answer<N>;
	}

	/** Trades the one-time token of a login link for a key; the cookie comes beside it. */
	async login(token: string): Promise<LoggedIn> {
		return (await this.post("login", { token })) as LoggedIn;
	}

	private async post(name: string, body: unknown): Promise<unknown> {
		const headers: Record<string, string> = {
			"Content-Type": "application/json",
			"Davit-Capabilities": capabilities,
		};
		const key = this.config.key();
		if (key) headers["Davit-Key"] = key;
		const send = this.config.fetch ?? fetch;
		let response: Response;
		try {
			response = await send(`/v1/${name}`, {
				method: "POST",
				headers,
				body: JSON.stringify(body),
				credentials: "same-origin",
			});
		} catch {
			throw new Problem(0, {
				code: "host_not_running",
				message: "davit does not answer.",
				hint: "See whether it runs with `davit status`, and start it with `davit up`.",
			});
		}
		if (response.status === 401 && name !== "login") this.config.onUnauthorized();
		const answer = await read(response);
		if (!response.ok) throw problem(response.status, answer);
		return answer;
	}
}

async function read(response: Response): Promise<unknown> {
	const text = await response.text();
	if (text === "") return {};
	try {
		return JSON.parse(text);
	} catch {
		return { message: text.slice(0, 500) };
	}
}

function problem(status: number, answer: unknown): Problem {
	const doc = (typeof answer === "object" && answer !== null ? answer : {}) as Partial<Fail> & {
		detail?: string;
		title?: string;
	};
	return new Problem(status, {
		code: doc.code ?? "internal",
		message: doc.message ?? doc.detail ?? doc.title ?? `The host answered with status ${status}.`,
		hint: doc.hint,
		details: doc.details,
	});
}

/** Any thrown value as something to show. */
export function failOf(thrown: unknown): Fail {
	if (thrown instanceof Problem) return thrown;
	return { code: "internal", message: thrown instanceof Error ? thrown.message : String(thrown) };
}
