// What stands in place of the page without a login (spec interfaces A2.1).
import { Copy } from "lucide";
import { copy } from "../state/actions";
import { loginFault } from "../state/store";
import { FailBox, IconButton } from "./bits";
import { Brand } from "./icon";

export function Gate() {
	return (
		<main class="gate">
			<div class="gate-card">
				<span class="brand">
					<Brand size={20} /> davit
				</span>
				<h1>Not logged in</h1>
				{loginFault.value && <FailBox fail={loginFault.value} />}
				<p>
					This browser has no key for this davit. Run this on the machine where davit runs; it prints a fresh
					login link, and opens it where it can:
				</p>
				<div class="command">
					<code>davit</code>
					<IconButton icon={Copy} label="Copy the command" onClick={() => void copy("davit", "Copied")} />
				</div>
				<p>A link works once, and for a short time.</p>
			</div>
		</main>
	);
}
