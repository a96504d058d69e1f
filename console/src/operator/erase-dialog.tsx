import type { ApiSchemaTypes } from "@pragma/client";
import { type FormEvent, useId, useState } from "react";
import { useApiChange } from "../api/use-api-change.ts";
import { useFormats } from "../session/session-context.tsx";
import { text } from "../text/text.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { RadioGroup } from "./radio-group.tsx";

interface EraseDialogProps {
  locationId: string;
  /** The name that must be typed. */
  name: string;
  onClose: () => void;
}

/** Erases personal data of a location, after its name was typed. */
export function EraseDialog({ locationId, name, onClose }: EraseDialogProps) {
  const id = useId();
  const [choice, setChoice] = useState<"orders" | "before">("orders");
  const [typedName, setTypedName] = useState("");
  const erasure = useApiChange((api, body: ApiSchemaTypes["CreateErasure"]) => api.POST("/v1/erasures", { body }));
  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const listed = String(form.get("orderIds") ?? "").split(/[\s,]+/);
    const orderIds = [...new Set(listed.filter((orderId) => orderId !== "").map((orderId) => orderId.toLowerCase()))];
    erasure.mutate({ locationId, ...(choice === "orders" ? { orderIds } : { before: String(form.get("before")) }) });
  }
  return (
    <Dialog title={text.operator.erase} isOpen onClose={onClose}>
      {erasure.data ? (
        <>
          <RequestedErasure requested={erasure.variables} created={erasure.data} />
          <div className="actions actions-end">
            <Button onPress={onClose}>{text.dialog.done}</Button>
          </div>
        </>
      ) : (
        <form className="form" onSubmit={submit}>
          <p>{text.operator.eraseHint}</p>
          <RadioGroup
            label={text.operator.eraseWhich}
            choices={text.operator.eraseChoices}
            value={choice}
            onChange={setChoice}
          />
          {choice === "orders" ? (
            <div className="field">
              <label htmlFor={`${id}-orders`}>{text.operator.orderIds}</label>
              <textarea id={`${id}-orders`} name="orderIds" rows={3} required spellCheck={false} />
            </div>
          ) : (
            <div className="field">
              <label htmlFor={`${id}-before`}>{text.operator.before}</label>
              <input id={`${id}-before`} name="before" type="date" required />
            </div>
          )}
          <div className="field">
            <label htmlFor={`${id}-name`}>{text.operator.confirmName(name)}</label>
            <input
              id={`${id}-name`}
              autoComplete="off"
              spellCheck={false}
              value={typedName}
              onChange={({ target }) => setTypedName(target.value)}
            />
          </div>
          {erasure.error && <ErrorNotice error={erasure.error} />}
          <div className="actions actions-end">
            <Button onPress={onClose}>{text.dialog.cancel}</Button>
            <Button
              type="submit"
              variant="danger"
              isDisabled={typedName.trim() !== name.trim()}
              isPending={erasure.isPending}
            >
              {text.operator.erase}
            </Button>
          </div>
        </form>
      )}
    </Dialog>
  );
}

interface RequestedErasureProps {
  requested: ApiSchemaTypes["CreateErasure"];
  created: ApiSchemaTypes["CreatedErasure"];
}

/** What is being erased, and which of the listed orders may be typing errors. */
function RequestedErasure({ requested, created: { tillCount, orderIdsWithoutTill } }: RequestedErasureProps) {
  const { dayWithYear } = useFormats();
  const { orderIds = [], before } = requested;
  const erasedOrders = orderIds.length - orderIdsWithoutTill.length;
  return (
    <div role="status">
      {before !== undefined && <p>{text.operator.erasingTills(tillCount, dayWithYear(before))}</p>}
      {erasedOrders > 0 && <p>{text.operator.erasingOrders(erasedOrders)}</p>}
      {tillCount > 0 && <p>{text.operator.erasureEnd}</p>}
      {orderIdsWithoutTill.length > 0 && (
        <div className="notice notice-warning">
          <p>{text.operator.ordersWithoutTill(orderIdsWithoutTill.length)}</p>
          <ul>
            {orderIdsWithoutTill.map((orderId) => (
              <li key={orderId}>
                <code>{orderId}</code>
              </li>
            ))}
          </ul>
          <p>{text.operator.ordersWithoutTillHint}</p>
        </div>
      )}
    </div>
  );
}
