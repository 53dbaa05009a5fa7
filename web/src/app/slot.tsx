import { Component, Suspense, type ReactNode } from "react";
import { ErrorState, SkeletonBlock } from "@/ui/feedback";
import { allows } from "./access";
import { useSession } from "./session";
import type { SlotEntry } from "./slots";

/** Keeps a failing part from taking the rest of the page with it. */
export class Boundary extends Component<{ title: string; children: ReactNode }, { error: unknown }> {
  override state: { error: unknown } = { error: undefined };

  static getDerivedStateFromError(error: unknown) {
    return { error };
  }

  override render() {
    if (this.state.error === undefined) return this.props.children;
    return <ErrorState title={this.props.title} error={this.state.error} onRetry={() => this.setState({ error: undefined })} />;
  }
}

export function Slot<Props extends object>({ entries, props }: { entries: SlotEntry<Props>[]; props: Props }) {
  const { rules } = useSession();
  const shown = entries
    .filter((entry) => entry.rules.length === 0 || entry.rules.some((rule) => allows(rules, rule)))
    .sort((a, b) => a.order - b.order);
  return shown.map(({ id, Component: Block }) => (
    <Boundary key={id} title="This part of the page failed">
      <Suspense fallback={<SkeletonBlock className="mb-7 h-28" />}>
        <Block {...props} />
      </Suspense>
    </Boundary>
  ));
}
