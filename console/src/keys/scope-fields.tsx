import { useId } from "react";
import { type CurrentKey, hasAnyScope } from "../session/session.ts";
import { useSession } from "../session/session-context.tsx";
import { text } from "../text/text.ts";

export type Scope = CurrentKey["scopes"][number];

const scopeNames = Object.keys(text.keys.scopes) as Scope[];

/** The scopes that a new consumer has unless the reader chooses others: they only read. */
export const initialScopes: readonly Scope[] = [
  "reports:read",
  "orders:read",
  "catalog:read",
  "locations:read",
  "usage:read",
];

/** The scopes of a new point of sale, which pushes tills, sends live orders and replaces the catalog. */
export const pointOfSaleScopes: readonly Scope[] = [...initialScopes, "tills:write", "orders:write", "catalog:write"];

/** The scopes that the signed-in key can grant, which are its own. `selected` are those that are chosen at first. */
export function ScopeFields({ selected }: { selected: readonly Scope[] }) {
  const { key } = useSession();
  const hintId = useId();
  const grantable = scopeNames.filter((scope) => scope !== "admin" && hasAnyScope(key, scope));
  const checkboxOf = (scope: Scope) => (
    <label key={scope} className="checkbox">
      <input
        type="checkbox"
        name="scopes"
        value={scope}
        defaultChecked={selected.includes(scope)}
        aria-describedby={scope === "admin" ? hintId : undefined}
      />
      {text.keys.scopes[scope]}
    </label>
  );
  return (
    <fieldset className="scope-fields">
      <legend>{text.keys.scopesOf}</legend>
      {grantable.map(checkboxOf)}
      {hasAnyScope(key, "admin") && (
        <div className="notice notice-warning scope-of-operators">
          {checkboxOf("admin")}
          <p id={hintId}>{text.keys.adminHint}</p>
        </div>
      )}
    </fieldset>
  );
}

/** Returns the scopes that are selected in a form with `ScopeFields`. */
export const readScopes = (form: FormData): Scope[] => {
  const selected = form.getAll("scopes");
  return scopeNames.filter((scope) => selected.includes(scope));
};
