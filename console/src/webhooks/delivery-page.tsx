import type { ApiSchemaTypes } from "@pragma/client";
import type { AdminApiClient } from "@pragma/client/api-client";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useApi } from "../api/use-api.ts";
import { useApiChange } from "../api/use-api-change.ts";
import { text } from "../text/text.ts";
import { Button } from "../ui/button.tsx";
import { CopyButton, CopyRequest } from "../ui/copy-button.tsx";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { Facts } from "../ui/facts.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { Ago, Moment } from "../ui/moment.tsx";
import { Page } from "../ui/page.tsx";
import { Section } from "../ui/section.tsx";
import { AttemptDetails } from "./attempt-details.tsx";
import { SignatureCheck } from "./signature-check.tsx";
import { DeliveryState } from "./webhook-state.tsx";

const route = getRouteApi("/webhooks/deliveries/$id");
type Delivery = ApiSchemaTypes["DeliveryDetails"];

/** A delivery that is on its way changes at any moment. */
const refetchMs = ({ state }: Delivery) => (state === "pending" || state === "sending" ? 2_000 : 15_000);

/** A delivery with the text of its body, because an equal object can have another text, and so another signature. */
interface LoadedDelivery extends Delivery {
  body: string;
}

async function loadDelivery(api: AdminApiClient, id: string): Promise<{ data: LoadedDelivery; response: Response }> {
  const { data: json, response } = await api.GET("/v1/webhooks/deliveries/{id}", {
    params: { path: { id } },
    parseAs: "text",
  });
  const delivery: Delivery = JSON.parse(json);
  return { data: { ...delivery, body: cutPayload(json) }, response };
}

/** Returns the text of the payload, which is the last field of a delivery. Quotes in texts before it are escaped. */
const cutPayload = (json: string): string => json.slice(json.indexOf(payloadKey) + payloadKey.length, -1);
const payloadKey = '"payload":';

/** One delivery: its attempts on a time line with the responses, and the message. */
export function DeliveryPage() {
  const { id } = route.useParams();
  const query = useApi<LoadedDelivery>(["delivery", id], (api) => loadDelivery(api, id), { refetchMs });
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
              <SignatureCheck attempts={loaded.attempts} body={loaded.body} />
            </div>
            <Message payload={loaded.payload} body={loaded.body} />
          </div>
        )}
      </Loaded>
    </Page>
  );
}

/** The message, indented for reading. The exact text is copied. */
function Message({ payload, body }: Pick<LoadedDelivery, "payload" | "body">) {
  return (
    <Section title={text.webhooks.message} actions={<CopyButton value={body} label={text.webhooks.copyMessage} />}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: whoever uses a keyboard must be able to scroll the message. */}
      <section className="code code-tall" tabIndex={0} aria-label={text.webhooks.body}>
        <pre>{JSON.stringify(payload, null, 2)}</pre>
      </section>
    </Section>
  );
}
