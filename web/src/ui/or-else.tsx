import { Component, type ReactNode } from "react";

type Props = {
  /** What stands for children that cannot be shown. */
  fallback: ReactNode;
  /** When it changes, the children are tried again. */
  of?: unknown;
  children: ReactNode;
};

/** Keeps what fails to render from taking the page with it: something simpler stands in its place. */
export class OrElse extends Component<Props, { failed: boolean; of: unknown }> {
  override state: { failed: boolean; of: unknown } = { failed: false, of: this.props.of };

  static getDerivedStateFromError() {
    return { failed: true };
  }

  static getDerivedStateFromProps({ of }: Props, state: { of: unknown }) {
    return of === state.of ? null : { failed: false, of };
  }

  override render() {
    return this.state.failed ? this.props.fallback : this.props.children;
  }
}
