import Link from "@docusaurus/Link";
import { useLocation } from "@docusaurus/router";
import useIsBrowser from "@docusaurus/useIsBrowser";
import Heading from "@theme/Heading";
import type { FormEvent, ReactNode } from "react";
import { maxSearchQueryLength } from "../../../search/search-index.ts";
import styles from "./styles.module.css";

/** The pages that most users look for. */
const commonPages = [
  { to: "/docs/getting-started", title: "Getting started", text: "Get an API key and read your first report." },
  { to: "/api/", title: "API reference", text: "All operations, each with a form to try it." },
  { to: "/docs/errors", title: "Errors", text: "All error codes, and how to handle them." },
  { to: "/docs/webhooks", title: "Webhooks", text: "Events, signatures and retries." },
];

/** Renders the page for unknown addresses, with a search form that contains the words of the address. */
export default function NotFoundContent({ className = "" }: { className?: string }): ReactNode {
  const { pathname } = useLocation();
  // The words are added in the browser, because all unknown addresses share one prerendered page.
  const words = useIsBrowser() ? extractWordsFromPath(pathname) : "";
  return (
    <main className={`container ${styles.notFound} ${className}`}>
      <p className={styles.status}>404</p>
      <Heading as="h1">Page Not Found</Heading>
      <p>The address is wrong, or the page was moved. Search the documentation, or open one of the pages below.</p>
      <form className={styles.search} onSubmit={searchInNavbar}>
        <label htmlFor="not-found-search">Search the documentation</label>
        <input
          key={words}
          id="not-found-search"
          name="words"
          type="search"
          maxLength={maxSearchQueryLength}
          defaultValue={words.slice(0, maxSearchQueryLength)}
        />
        <button type="submit" className="button button--primary">
          Search
        </button>
      </form>
      <ul className={styles.pages}>
        {commonPages.map(({ to, title, text }) => (
          <li key={to}>
            <Link to={to}>{title}</Link>
            <p>{text}</p>
          </li>
        ))}
      </ul>
    </main>
  );
}

/** Returns the words of the last part of a path. Example: `/docs/web-hooks/` becomes `web hooks`. */
function extractWordsFromPath(pathname: string): string {
  const lastPart = decodeUriComponentLeniently(pathname).split("/").filter(Boolean).at(-1) ?? "";
  return lastPart
    .replace(/\.\w+$/, "")
    .split(/[^\p{L}\p{N}]+/u)
    .join(" ")
    .trim();
}

function decodeUriComponentLeniently(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Enters the words into the search field of the navigation bar, which shows the suggestions. */
function searchInNavbar(event: FormEvent<HTMLFormElement>): void {
  event.preventDefault();
  const words = String(new FormData(event.currentTarget).get("words") ?? "");
  const input = document.querySelector<HTMLInputElement>(".navbar__search-input");
  if (input === null) return;
  window.scrollTo({ top: 0 });
  input.focus();
  // React observes the value through the setter of the prototype.
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value")?.set?.call(input, words);
  input.dispatchEvent(new InputEvent("input", { bubbles: true }));
}
