import { type FormEvent, useEffect, useId, useRef, useState } from "react";
import type { Installation } from "../installation.ts";
import { ThemeSwitch } from "../shell/theme-switch.tsx";
import { text } from "../text/text.ts";
import { Brand } from "../ui/brand.tsx";
import { Button } from "../ui/button.tsx";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { CreateSandbox } from "./create-sandbox.tsx";
import { isKeyRejection, type SignOutReason } from "./session.ts";

interface SignInPageProps {
  installation: Installation;
  reason: SignOutReason | null;
  /** The error of an attempt to continue the session of this tab. */
  initialError: unknown;
  onSignIn: (apiKey: string) => Promise<void>;
}

export function SignInPage({ installation, reason, initialError, onSignIn }: SignInPageProps) {
  const [error, setError] = useState<unknown>(initialError);
  const [issue, setIssue] = useState<string | null>(null);
  const [isChecking, setIsChecking] = useState(false);
  const inputId = useId();
  const input = useRef<HTMLInputElement>(null);
  // Entering the key is what the page is for.
  useEffect(() => input.current?.focus(), []);

  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const entered = String(new FormData(event.currentTarget).get("apiKey")).trim();
    // Keys are often copied from a request, with the scheme of its header.
    const apiKey = entered.replace(/^Bearer\s+/i, "");
    setError(null);
    // A header cannot contain other characters.
    if (!/^[\x21-\x7e]+$/.test(apiKey))
      return setIssue(apiKey === "" ? text.signIn.missing : text.signIn.invalidCharacters);
    setIssue(null);
    setIsChecking(true);
    try {
      await onSignIn(apiKey);
    } catch (cause) {
      setError(cause);
      setIsChecking(false);
    }
  }

  return (
    <div className="sign-in">
      <header className="sign-in-header">
        <Brand />
        <ThemeSwitch />
      </header>
      <main className="sign-in-card">
        <h1>{text.signIn.title}</h1>
        {reason?.kind === "rejected" && error === null && (
          <p className="notice notice-warning" role="alert">
            {text.signIn.signedOutBecause} {reason.problem.detail}
          </p>
        )}
        {reason?.kind === "signedOut" && error === null && <p role="status">{text.signIn.signedOut}</p>}
        <form onSubmit={submit} noValidate>
          <label htmlFor={inputId}>{text.signIn.apiKey}</label>
          <input
            id={inputId}
            ref={input}
            name="apiKey"
            type="password"
            autoComplete="off"
            spellCheck={false}
            placeholder="pragma_…"
            aria-describedby={`${inputId}-hint`}
            aria-invalid={issue !== null}
          />
          <p className="hint" id={`${inputId}-hint`}>
            {text.signIn.hint}
          </p>
          {issue && (
            <p className="field-error" role="alert">
              {issue}
            </p>
          )}
          <Button type="submit" variant="primary" isPending={isChecking}>
            {isChecking ? text.signIn.checking : text.signIn.submit}
          </Button>
        </form>
        {isKeyRejection(error) ? (
          <p className="notice notice-bad" role="alert">
            {error.detail} {text.signIn.checkKey}
          </p>
        ) : (
          error !== null && (
            <ErrorNotice error={error} onRetry={error === initialError ? () => location.reload() : undefined} />
          )
        )}
        <p className="hint">
          {text.signIn.apiAt} <code>{installation.apiUrl}</code>.{" "}
          <a href={`${installation.docsUrl}/authentication`}>{text.signIn.howToGetKey}</a>
        </p>
      </main>
      {installation.hasSandboxes && <CreateSandbox installation={installation} />}
    </div>
  );
}
