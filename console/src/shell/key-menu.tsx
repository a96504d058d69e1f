import { useId, useState } from "react";
import { useSession } from "../session/session-context.tsx";
import { text } from "../text/text.ts";
import { Button } from "../ui/button.tsx";
import { Facts } from "../ui/facts.tsx";
import { ChevronIcon } from "../ui/icons.tsx";

/** The key that is signed in: what it may do, until when, and signing out. */
export function KeyMenu() {
  const { key } = useSession();
  const [isOpen, setIsOpen] = useState(false);
  const id = useId();
  return (
    <>
      <button
        type="button"
        className="button button-quiet key-button"
        aria-label={text.key.menu(key.consumer.name)}
        aria-haspopup="dialog"
        popoverTarget={id}
      >
        <span className="key-name">{key.consumer.name}</span>
        <ChevronIcon />
      </button>
      {/* The browser closes it on Escape and on a click outside, and returns the focus to the button. */}
      <div
        id={id}
        popover="auto"
        role="dialog"
        aria-label={text.key.title}
        tabIndex={-1}
        className="dialog key-menu"
        onBeforeToggle={({ newState }) => setIsOpen(newState === "open")}
        onToggle={({ newState, currentTarget }) => newState === "open" && currentTarget.focus()}
      >
        {isOpen && <KeyFacts />}
      </div>
    </>
  );
}

function KeyFacts() {
  const { key, signOut, formats, installation } = useSession();
  return (
    <>
      <Facts
        facts={[
          [text.key.consumer, key.consumer.name],
          [text.key.prefix, <code key="prefix">{key.prefix}…</code>],
          [text.key.location, key.location?.name],
          [text.key.timeZone, key.location?.timezone],
          [text.key.currency, key.location?.currencyCode],
          [text.key.expires, key.expiresAt === null ? text.key.never : formats.dateTime(key.expiresAt)],
          [
            text.key.rateLimit,
            text.key.perSecond(formats.number(key.rateLimit.perSecond), formats.number(key.rateLimit.burst)),
          ],
          [text.key.scopes, <Scopes key="scopes" scopes={key.scopes} />],
          [text.key.api, <code key="api">{installation.apiUrl}</code>],
        ]}
      />
      <p>
        <a href={installation.docsUrl}>{text.key.documentation}</a>
      </p>
      <Button variant="secondary" onPress={() => signOut()}>
        {text.key.signOut}
      </Button>
    </>
  );
}

const Scopes = ({ scopes }: { scopes: readonly string[] }) => (
  <ul className="plain-list">
    {scopes.map((scope) => (
      <li key={scope}>
        <code>{scope}</code>
      </li>
    ))}
  </ul>
);
