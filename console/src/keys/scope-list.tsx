import type { CurrentKey } from "../session/session.ts";
import { text } from "../text/text.ts";

/** What the scopes allow, in plain words, with the name of each. */
export const ScopeList = ({ scopes }: { scopes: CurrentKey["scopes"] }) => (
  <ul className="plain-list">
    {scopes.map((scope) => (
      <li key={scope}>
        {text.keys.scopes[scope]} <code className="muted">{scope}</code>
      </li>
    ))}
  </ul>
);
