// A page that meets a fault of its own says so and leaves the rest of the console working.

import { Component, type ComponentChildren } from "preact";
import { Button, Note } from "./bits";

export class Boundary extends Component<{ children: ComponentChildren }, { fault: Error | null }> {
  override state = { fault: null as Error | null };

  override componentDidCatch(fault: Error): void {
    this.setState({ fault });
    // For the browser's log, as without this part.
    reportError(fault);
  }

  override render() {
    const { fault } = this.state;
    if (!fault) return this.props.children;
    return <Note tone="bad" icon="alert" actions={<Button icon="refresh" onClick={() => location.reload()}>Reload</Button>}>This page failed to show what the gateway sent. Traffic is not affected. <small>{fault.message}</small></Note>;
  }
}
