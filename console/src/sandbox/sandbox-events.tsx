import type { ApiSchemaTypes } from "@pragma/client";
import { useId, useState } from "react";
import { useApiChange } from "../api/use-api-change.ts";
import { text } from "../text/text.ts";
import { Button } from "../ui/button.tsx";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { ChoiceField } from "../ui/fields.tsx";
import { Section } from "../ui/section.tsx";
import { EventResults, type ShownEvent } from "./event-results.tsx";

type EventRequest = ApiSchemaTypes["CreateSandboxEvent"];
type EventType = EventRequest["type"];
type Problem = NonNullable<EventRequest["problem"]>;

const eventTypes = Object.keys(text.sandbox.events.types) as EventType[];
const closingTypes: ReadonlySet<EventType> = new Set(["order.paid", "order.canceled", "order.transferred"]);
const maxFailingDeliveries = 20;
/** The most events whose results are shown. */
const maxResults = 10;

/** A button for each event, with what it does, and the results of those that were pressed. */
export function SandboxEvents() {
  const [results, setResults] = useState<readonly ShownEvent[]>([]);
  const [openOrderId, setOpenOrderId] = useState<string | null>(null);
  const [problem, setProblem] = useState<Problem>("missing_shift");
  const [count, setCount] = useState(1);
  const creation = useApiChange((api, body: EventRequest) => api.POST("/v1/sandboxes/current/events", { body }));
  const countId = useId();

  function run(type: EventType) {
    const orderId = closingTypes.has(type) ? openOrderId : null;
    const body = { type, problem, count, ...(orderId !== null && { orderId }) };
    creation.mutate(body, {
      onSuccess: (event) => {
        setResults((shown) => [{ event, at: new Date().toISOString() }, ...shown].slice(0, maxResults));
        // A till contains the open orders, and closes them.
        if (type === "order.call") setOpenOrderId(event.orderId);
        else if (orderId !== null || type === "till.pushed") setOpenOrderId(null);
      },
      // The order may have been closed elsewhere. The next event opens another one.
      onError: () => orderId !== null && setOpenOrderId(null),
    });
  }

  const { types } = text.sandbox.events;
  return (
    <Section title={text.sandbox.events.title}>
      <p className="muted">{text.sandbox.events.hint}</p>
      <ul className="cards">
        {eventTypes.map((type) => (
          <li key={type} className="card sandbox-event">
            <div>
              <Button
                onPress={() => run(type)}
                isPending={creation.isPending && creation.variables.type === type}
                isDisabled={creation.isPending && creation.variables.type !== type}
              >
                {types[type].name}
              </Button>
            </div>
            <p>{types[type].does}</p>
            {type === "day.broken" && (
              <ChoiceField
                label={text.sandbox.events.problem}
                choices={text.sandbox.events.problems}
                value={problem}
                onChange={(chosen) => chosen && setProblem(chosen)}
              />
            )}
            {type === "delivery.failed" && (
              <div className="field">
                <label htmlFor={countId}>{text.sandbox.events.count}</label>
                <input
                  id={countId}
                  type="number"
                  min={0}
                  max={maxFailingDeliveries}
                  value={count}
                  onChange={({ target }) =>
                    setCount(Math.min(maxFailingDeliveries, Math.max(0, Math.trunc(Number(target.value)))))
                  }
                />
              </div>
            )}
          </li>
        ))}
      </ul>
      {creation.error && <ErrorNotice error={creation.error} />}
      <EventResults results={results} />
    </Section>
  );
}
