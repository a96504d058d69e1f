import { type ReactNode, useEffect, useRef, useState } from "react";
import styles from "./CopyPageMenu.module.css";

/** Renders a menu for AI tools: copy the page as Markdown, or open its Markdown copy. */
export function CopyPageMenu({ markdownUrl }: { markdownUrl: string }): ReactNode {
  const menu = useRef<HTMLDetailsElement>(null);
  const [state, setState] = useState<"" | "Copied" | "Could not copy">("");

  useEffect(() => {
    const closeFromOutside = (event: Event) => {
      if (event.target instanceof Node && !menu.current?.contains(event.target)) menu.current?.removeAttribute("open");
    };
    document.addEventListener("pointerdown", closeFromOutside);
    document.addEventListener("focusin", closeFromOutside);
    return () => {
      document.removeEventListener("pointerdown", closeFromOutside);
      document.removeEventListener("focusin", closeFromOutside);
    };
  }, []);

  async function copy(): Promise<void> {
    const isCopied = await copyText(fetchText(markdownUrl)).then(
      () => true,
      () => false,
    );
    setState(isCopied ? "Copied" : "Could not copy");
    setTimeout(() => setState(""), 2_000);
    closeAndFocus();
  }

  function closeAndFocus(): void {
    menu.current?.removeAttribute("open");
    menu.current?.querySelector("summary")?.focus();
  }

  return (
    <details
      ref={menu}
      className={styles.menu}
      data-search-ignored
      onKeyDown={(event) => {
        if (event.key === "Escape") closeAndFocus();
      }}
    >
      <summary className="button button--sm button--outline button--secondary">{state || "Copy page"}</summary>
      <div className={styles.items}>
        <button type="button" onClick={() => void copy()}>
          Copy as Markdown
        </button>
        <a href={markdownUrl}>View as Markdown</a>
      </div>
      <span role="status" className="screen-reader-only">
        {state}
      </span>
    </details>
  );
}

async function fetchText(url: string): Promise<string> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url} answered ${response.status}.`);
  return response.text();
}

/** Copies a text that is still loading. Safari allows this only if the copy begins in the click, hence the promise. */
async function copyText(text: Promise<string>): Promise<void> {
  if (typeof ClipboardItem === "undefined") return navigator.clipboard.writeText(await text);
  const blob = text.then((loaded) => new Blob([loaded], { type: "text/plain" }));
  await navigator.clipboard.write([new ClipboardItem({ "text/plain": blob })]);
}
