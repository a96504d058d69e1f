import type { ApiSchemaTypes } from "@pragma/client";
import { type FormEvent, useId, useState } from "react";
import { useFormats } from "../session/session-context.tsx";
import { text } from "../text/text.ts";
import { Button } from "../ui/button.tsx";
import { Section } from "../ui/section.tsx";
import { nameAttempt } from "./attempt-details.tsx";
import { checkSignature, type SignatureResult } from "./check-signature.ts";

interface SignatureCheckProps {
  /** Oldest first. The latest one that was signed is checked. */
  attempts: readonly ApiSchemaTypes["Attempt"][];
  /** The body as it was sent. */
  body: string;
}

/** Verifies the latest attempt with a secret that the reader enters. The secret stays in this form. */
export function SignatureCheck({ attempts, body }: SignatureCheckProps) {
  const id = useId();
  const [result, setResult] = useState<{ of: SignatureResult; receivedBody: string } | null>(null);
  const attempt = attempts.findLast(({ signatureHeaders }) => signatureHeaders !== null);
  const headers = attempt?.signatureHeaders;
  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    if (!headers) return;
    const form = new FormData(event.currentTarget);
    // A text field changes the ends of lines, and what is copied often ends with one.
    const receivedBody = String(form.get("body")).replaceAll("\r\n", "\n").replace(/\n$/, "");
    const secret = String(form.get("secret")).trim();
    setResult({ of: await checkSignature({ headers, body }, { secret, receivedBody }), receivedBody });
  }
  // Browsers offer cryptography only on pages that nobody can change on their way.
  if (!window.isSecureContext)
    return (
      <Section title={text.webhooks.checkSignature}>
        <p className="empty">{text.webhooks.insecure}</p>
      </Section>
    );
  return (
    <Section title={text.webhooks.checkSignature}>
      {!attempt || !headers ? (
        <p className="empty">{text.webhooks.notSigned}</p>
      ) : (
        <form className="form" onSubmit={(event) => void submit(event)} onChange={() => setResult(null)}>
          <p className="muted">{text.webhooks.checkSignatureOf(nameAttempt(attempt).toLowerCase())}</p>
          <div className="field">
            <label htmlFor={`${id}-secret`}>{text.webhooks.secret}</label>
            <input
              id={`${id}-secret`}
              name="secret"
              type="password"
              required
              autoComplete="off"
              spellCheck={false}
              aria-describedby={`${id}-secret-hint`}
            />
            <p className="hint" id={`${id}-secret-hint`}>
              {text.webhooks.secretHint}
            </p>
          </div>
          <div className="field">
            <label htmlFor={`${id}-body`}>{text.webhooks.receivedBody}</label>
            <textarea
              id={`${id}-body`}
              name="body"
              rows={3}
              spellCheck={false}
              autoComplete="off"
              aria-describedby={`${id}-body-hint`}
            />
            <p className="hint" id={`${id}-body-hint`}>
              {text.webhooks.receivedBodyHint}
            </p>
          </div>
          <div className="actions">
            <Button type="submit" variant="primary">
              {text.webhooks.check}
            </Button>
          </div>
          <div role="status">
            {result && <SignatureNotice result={result.of} sentBody={body} receivedBody={result.receivedBody} />}
          </div>
        </form>
      )}
    </Section>
  );
}

interface SignatureNoticeProps {
  result: SignatureResult;
  sentBody: string;
  receivedBody: string;
}

/** The number of characters that are shown from the first difference on. */
const shownLength = 12;

function SignatureNotice({ result, sentBody, receivedBody }: SignatureNoticeProps) {
  const { number } = useFormats();
  const { signatureResults, bodyEnd, old } = text.webhooks;
  if (result.kind === "otherBody") {
    const excerptOf = (body: string) => {
      const excerpt = body.slice(result.index, result.index + shownLength);
      return excerpt === "" ? bodyEnd : `“${excerpt}”`;
    };
    return (
      <p className="notice notice-bad">
        {signatureResults.otherBody(number(result.index + 1), excerptOf(sentBody), excerptOf(receivedBody))}
      </p>
    );
  }
  const isValid = result.kind === "valid";
  return (
    <p className={isValid ? "notice notice-good" : "notice notice-bad"}>
      {signatureResults[result.kind]} {isValid && old}
    </p>
  );
}
