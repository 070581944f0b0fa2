"use client";
import { Component, type ReactNode } from "react";

type Props = { children: ReactNode; fallback: ReactNode };

/** Shows `fallback` in place of a part that failed while it was drawn, so that the wallet still hears how it ended. */
export class CrashGuard extends Component<Props, { crashed: boolean }> {
  override state = { crashed: false };

  static getDerivedStateFromError(): { crashed: boolean } {
    return { crashed: true };
  }

  override render(): ReactNode {
    return this.state.crashed ? this.props.fallback : this.props.children;
  }
}
