import { useHistory } from "@docusaurus/router";
import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from "react";
import {
  loadSearchIndex,
  maxSearchQueryLength,
  type SearchEntryKind,
  type SearchHit,
  search,
} from "../../search/search-index.ts";
import styles from "./styles.module.css";

const indexUrl = "/search-index.json";

const kindLabels: Record<SearchEntryKind, string> = {
  guide: "Guide",
  section: "Guide",
  operation: "API",
  "operator operation": "API",
  field: "Field",
  error: "Error",
  term: "Glossary",
};

interface Props {
  /** Called when the field gets or loses the focus. */
  handleSearchBarToggle?: (isExpanded: boolean) => void;
}

/** Renders the search field with a list of results, as a combobox with the keys of the ARIA pattern. */
export default function SearchBar({ handleSearchBarToggle }: Props): ReactNode {
  const history = useHistory();
  const listId = useId();
  const input = useRef<HTMLInputElement>(null);
  const focusedBefore = useRef<Element | null>(null);
  const [query, setQuery] = useState("");
  const [isOpen, setIsOpen] = useState(false);
  const { hits, error } = useSearchHits(query);
  const [active, setActive] = useState(0);
  const isExpanded = isOpen && query.trim() !== "" && (hits !== undefined || error !== undefined);
  const shownHits = isExpanded ? (hits ?? []) : [];

  // Ctrl+K and ⌘K move the focus to the field of the navigation bar, which is the first one of the page.
  useEffect(() => {
    const focusOnShortcut = (event: globalThis.KeyboardEvent) => {
      if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey)
        return;
      if (document.querySelector("input[data-search-field]") !== input.current) return;
      event.preventDefault();
      input.current?.focus();
    };
    document.addEventListener("keydown", focusOnShortcut);
    return () => document.removeEventListener("keydown", focusOnShortcut);
  }, []);

  const close = () => {
    setIsOpen(false);
    setActive(0);
  };
  const open = ({ url }: SearchHit) => {
    close();
    setQuery("");
    input.current?.blur();
    history.push(url);
  };

  function onKeyDown(event: KeyboardEvent): void {
    const count = shownHits.length;
    const hit = shownHits[active];
    if (event.key === "Escape") {
      event.preventDefault();
      if (isExpanded) close();
      else if (focusedBefore.current instanceof HTMLElement) focusedBefore.current.focus();
      else input.current?.blur();
    } else if (event.key === "Enter" && hit !== undefined) {
      event.preventDefault();
      open(hit);
    } else if (count > 0 && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
      event.preventDefault();
      setActive((active + (event.key === "ArrowDown" ? 1 : count - 1)) % count);
    } else if (event.key === "ArrowDown") setIsOpen(true);
  }

  return (
    <div className={`navbar__search ${styles.search}`}>
      <input
        ref={input}
        type="search"
        data-search-field
        className={`navbar__search-input ${styles.input}`}
        placeholder="Search"
        aria-label="Search"
        role="combobox"
        aria-expanded={isExpanded}
        aria-controls={listId}
        aria-autocomplete="list"
        aria-activedescendant={shownHits.length > 0 ? `${listId}-${active}` : undefined}
        autoComplete="off"
        spellCheck={false}
        maxLength={maxSearchQueryLength}
        value={query}
        onChange={(event) => {
          setQuery(event.target.value);
          setActive(0);
          setIsOpen(true);
        }}
        onFocus={(event) => {
          focusedBefore.current = event.relatedTarget;
          setIsOpen(true);
          handleSearchBarToggle?.(true);
          loadSearchIndex(indexUrl).catch(() => {});
        }}
        onBlur={() => {
          close();
          handleSearchBarToggle?.(false);
        }}
        onKeyDown={onKeyDown}
      />
      <span className={styles.shortcut} aria-hidden="true">
        Ctrl K
      </span>
      <div className={styles.panel} hidden={!isExpanded}>
        <div id={listId} role="listbox" aria-label="Search results">
          {shownHits.map((hit, position) => (
            <SearchSuggestion
              key={hit.url}
              id={`${listId}-${position}`}
              hit={hit}
              isActive={position === active}
              onOpen={() => open(hit)}
              onHover={() => setActive(position)}
            />
          ))}
        </div>
        {isExpanded && shownHits.length === 0 && (
          <p className={styles.empty}>{error ?? `No results for “${query.trim()}”`}</p>
        )}
      </div>
      <span role="status" className="screen-reader-only">
        {isExpanded ? (error ?? `${shownHits.length} results`) : ""}
      </span>
    </div>
  );
}

interface SuggestionProps {
  id: string;
  hit: SearchHit;
  isActive: boolean;
  onOpen: () => void;
  onHover: () => void;
}

function SearchSuggestion({ id, hit, isActive, onOpen, onHover }: SuggestionProps): ReactNode {
  const element = useRef<HTMLAnchorElement>(null);
  useEffect(() => {
    if (isActive) element.current?.scrollIntoView({ block: "nearest" });
  }, [isActive]);
  return (
    <a
      ref={element}
      id={id}
      href={hit.url}
      role="option"
      aria-selected={isActive}
      tabIndex={-1}
      className={isActive ? `${styles.suggestion} ${styles.active}` : styles.suggestion}
      // Keeps the focus in the field, because the list closes when the field loses the focus.
      onMouseDown={(event) => event.preventDefault()}
      onMouseMove={onHover}
      onClick={(event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        onOpen();
      }}
    >
      <span className={styles.title}>
        {hit.kind === "field" || hit.kind === "error" ? <code>{hit.title}</code> : hit.title}
        <span className={styles.kind}>{kindLabels[hit.kind]}</span>
      </span>
      <span className={styles.place}>{hit.place}</span>
      {hit.excerpt !== "" && <span className={styles.excerpt}>{hit.excerpt}</span>}
    </a>
  );
}

/** Returns the results of a query. Both fields are undefined until the index has been loaded. */
function useSearchHits(query: string): { hits?: SearchHit[]; error?: string } {
  const [state, setState] = useState<{ hits?: SearchHit[]; error?: string }>({});
  useEffect(() => {
    if (query.trim() === "") {
      setState({});
      return;
    }
    let isCurrent = true;
    loadSearchIndex(indexUrl).then(
      (index) => isCurrent && setState({ hits: search(index, query) }),
      () => isCurrent && setState({ error: "The search could not be loaded. Type again to retry." }),
    );
    return () => {
      isCurrent = false;
    };
  }, [query]);
  return state;
}
