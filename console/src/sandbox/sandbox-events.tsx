import type { ApiSchemaTypes } from "@pragma/client";
import { useId, useState } from "react";
import { useApiChange } from "../api/use-api-change.ts";
import { text } from "../text/text.ts";
import { Button } from "../ui/button.tsx";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { ChoiceField } from "../ui/fields.tsx";
import { Section } from "../ui/section.tsx";
import { EventResult, type ShownEvent } from "./event-result.tsx";

type EventRequest = ApiSchemaTypes["CreateSandboxEvent"];
type EventType = EventRequest["type"];
type Problem = NonNullable<EventRequest["problem"]>;

const eventTypes = Object.keys(text.sandbox.events.types) as EventType[];
const closingTypes: ReadonlySet<EventType> = new Set(["order.paid", "order.canceled", "order.transferred"]);
const maxFailingDeliveries = 20;

/** A button for each event, with what it does, and what came of it when it was last pressed. */
export function SandboxEvents() {
  const [results, setResults] = useState<Partial<Record<EventType, ShownEvent>>>({});
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
        setResults((shown) => ({ ...shown, [type]: { event, at: new Date().toISOString() } }));
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
            <div role="status" className="sandbox-result">
              {results[type] && <EventResult {...results[type]} />}
            </div>
            {creation.error && creation.variables.type === type && <ErrorNotice error={creation.error} />}
          </li>
        ))}
      </ul>
    </Section>
  );
}
