import { type ReactNode, useState } from "react";

/** Renders a button that copies an API key, and states whether that worked. */
export function CopyKeyButton({ apiKey }: { apiKey: string }): ReactNode {
  const [state, setState] = useState<"" | "Copied" | "Could not copy">("");

  async function copy() {
    // Browsers have no clipboard on sites that are served over http, except localhost.
    const isCopied = await Promise.resolve(navigator.clipboard?.writeText(apiKey).then(() => true)).catch(() => false);
    setState(isCopied ? "Copied" : "Could not copy");
    setTimeout(() => setState(""), 2_000);
  }

  return (
    <>
      <button type="button" className="button button--sm button--outline button--secondary" onClick={() => void copy()}>
        {state || "Copy key"}
      </button>
      <span role="status" className="screen-reader-only">
        {state}
      </span>
    </>
  );
}
