// A component that is drawn again only when one of its properties is another value.
import { Component, type FunctionComponent } from "preact";

export function kept<P extends object>(View: FunctionComponent<P>) {
	return class Kept extends Component<P> {
		override shouldComponentUpdate(next: Readonly<P>): boolean {
			const now = this.props as Record<string, unknown>;
			const names = Object.keys(next);
			if (names.length !== Object.keys(now).length) return true;
			return names.some((name) => (next as Record<string, unknown>)[name] !== now[name]);
		}

		override render() {
			return <View {...this.props} />;
		}
	};
}
