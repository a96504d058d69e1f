import type { ApiSchemaTypes } from "@pragma/client";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useApi } from "../api/use-api.ts";
import { useApiChange } from "../api/use-api-change.ts";
import { useFormats } from "../session/session-context.tsx";
import { text } from "../text/text.ts";
import { Badge } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { CopyButton, CopyRequest } from "../ui/copy-button.tsx";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { Facts } from "../ui/facts.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { Ago, Moment } from "../ui/moment.tsx";
import { Page } from "../ui/page.tsx";
import { Section } from "../ui/section.tsx";
import { DeliveryState } from "./webhook-state.tsx";

const route = getRouteApi("/webhooks/deliveries/$id");
/** A delivery that is on its way changes at any moment. */
const refetchMs = ({ state }: ApiSchemaTypes["DeliveryDetails"]) =>
  state === "pending" || state === "sending" ? 2_000 : 15_000;

type Attempt = ApiSchemaTypes["Attempt"];

/** One delivery: its attempts on a time line with the responses, and the message. */
export function DeliveryPage() {
  const { id } = route.useParams();
  const query = useApi(
    ["delivery", id],
    (api) => api.GET("/v1/webhooks/deliveries/{id}", { params: { path: { id } } }),
    { refetchMs },
  );
  const replay = useApiChange((api, _: undefined) =>
    api.POST("/v1/webhooks/deliveries/{id}/replay", { params: { path: { id } } }),
  );
  const delivery = query.data?.data;
  return (
    <Page
      title={delivery ? text.webhooks.deliveryOf(delivery.event) : text.webhooks.delivery}
      summary={<Link to="/webhooks/deliveries">{text.webhooks.allDeliveries}</Link>}
      actions={
        <>
          <Button variant="primary" isPending={replay.isPending} onPress={() => replay.mutate(undefined)}>
            {text.webhooks.replay}
          </Button>
          <CopyRequest url={query.data?.url} />
        </>
      }
    >
      {replay.error && <ErrorNotice error={replay.error} />}
      {replay.data && <p role="status">{text.webhooks.replayStarted}</p>}
      <Loaded query={query}>
        {(loaded) => (
          <div className="columns">
            <div>
              <Section title={text.webhooks.about} actions={<DeliveryState state={loaded.state} />}>
                <Facts
                  facts={[
                    [text.webhooks.createdAt, <Moment key="created" at={loaded.createdAt} />],
                    [
                      text.webhooks.settledAt,
                      loaded.settledAt !== null && <Moment key="settled" at={loaded.settledAt} />,
                    ],
                    [
                      text.webhooks.nextAttempt,
                      loaded.nextAttemptAt !== null && <Ago key="next" at={loaded.nextAttemptAt} />,
                    ],
                    [
                      text.webhooks.endpoint,
                      <Link key="webhook" to="/webhooks/$id" params={{ id: loaded.webhookId }}>
                        {text.webhooks.openEndpoint}
                      </Link>,
                    ],
                    [text.webhooks.messageId, <code key="message">{loaded.messageId}</code>],
                  ]}
                />
              </Section>
              <Section title={text.webhooks.attempts}>
                {loaded.attempts.length === 0 && <p className="empty">{text.webhooks.noAttempts}</p>}
                <ol className="timeline">
                  {[...loaded.attempts].reverse().map((attempt) => (
                    <li key={`${attempt.generation} ${attempt.number}`}>
                      <AttemptDetails attempt={attempt} />
                    </li>
                  ))}
                </ol>
              </Section>
            </div>
            <Message payload={loaded.payload} />
          </div>
        )}
      </Loaded>
    </Page>
  );
}

function AttemptDetails({ attempt }: { attempt: Attempt }) {
  const { number, timeWithSeconds, day, isoDay } = useFormats();
  const {
    generation,
    number: attemptNumber,
    startedAt,
    milliseconds,
    status,
    error,
    response,
    nextAttemptAt,
  } = attempt;
  const isSuccess = error === null && status !== null;
  return (
    <div className="attempt">
      <p className="attempt-header">
        <Badge tone={isSuccess ? "good" : error === null ? "info" : "bad"}>
          {status ?? (error === null ? text.webhooks.inProgress : text.webhooks.noResponse)}
        </Badge>
        <strong>
          {generation > 1
            ? text.webhooks.replayAttempt(generation - 1, attemptNumber)
            : text.webhooks.attempt(attemptNumber)}
        </strong>
        <time dateTime={startedAt} className="muted">
          {day(isoDay(new Date(startedAt)))} {timeWithSeconds(startedAt)}
        </time>
        {milliseconds !== null && <span className="muted">{number(milliseconds)} ms</span>}
      </p>
      {error !== null && <p>{error}</p>}
      {response && (
        <details>
          <summary>{text.webhooks.response}</summary>
          <pre className="code">{response}</pre>
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

function Message({ payload }: { payload: Record<string, unknown> }) {
  const body = JSON.stringify(payload, null, 2);
  return (
    <Section title={text.webhooks.message} actions={<CopyButton value={body} label={text.webhooks.copyMessage} />}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: whoever uses a keyboard must be able to scroll the message. */}
      <section className="code code-tall" tabIndex={0} aria-label={text.webhooks.body}>
        <pre>{body}</pre>
      </section>
    </Section>
  );
}
