import type { ApiSchemaTypes } from "@pragma/client";
import { useFormats } from "../session/session-context.tsx";
import { text } from "../text/text.ts";
import { Badge } from "../ui/badge.tsx";
import { Facts } from "../ui/facts.tsx";
import { ExactMoment, Moment } from "../ui/moment.tsx";

type Attempt = ApiSchemaTypes["Attempt"];

/** Returns the name of an attempt: its number and, if the delivery was replayed, that of the replay. */
export const nameAttempt = ({ generation, number }: Attempt): string =>
  generation > 1 ? text.webhooks.replayAttempt(generation - 1, number) : text.webhooks.attempt(number);

/** When an attempt began, its result, the response, and the headers that signed its request. */
export function AttemptDetails({ attempt }: { attempt: Attempt }) {
  const { number } = useFormats();
  const { startedAt, milliseconds, status, error, response, nextAttemptAt, signatureHeaders } = attempt;
  const isSuccess = error === null && status !== null;
  return (
    <div className="attempt">
      <p className="attempt-header">
        <Badge tone={isSuccess ? "good" : error === null ? "info" : "bad"}>
          {status ?? (error === null ? text.webhooks.inProgress : text.webhooks.noResponse)}
        </Badge>
        <strong>{nameAttempt(attempt)}</strong>
        <span className="muted">
          <ExactMoment at={startedAt} />
        </span>
        {milliseconds !== null && <span className="muted">{number(milliseconds)} ms</span>}
      </p>
      {error !== null && <p>{error}</p>}
      {response && (
        <details>
          <summary>{text.webhooks.response}</summary>
          <pre className="code">{response}</pre>
        </details>
      )}
      {signatureHeaders && (
        <details>
          <summary>{text.webhooks.signatureHeaders}</summary>
          <Facts
            facts={Object.entries(signatureHeaders).map(([name, value]) => [name, <code key={name}>{value}</code>])}
          />
        </details>
      )}
      {nextAttemptAt !== null && (
        <p className="muted">
          {text.webhooks.nextAttempt}: <Moment at={nextAttemptAt} />
        </p>
      )}
    </div>
  );
}
