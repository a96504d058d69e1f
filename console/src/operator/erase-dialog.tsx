import type { ApiSchemaTypes } from "@pragma/client";
import { type FormEvent, useId, useState } from "react";
import { useApiChange } from "../api/use-api-change.ts";
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
    const orderIds = String(form.get("orderIds") ?? "")
      .split(/[\s,]+/)
      .filter((orderId) => orderId !== "");
    erasure.mutate({ locationId, ...(choice === "orders" ? { orderIds } : { before: String(form.get("before")) }) });
  }
  return (
    <Dialog title={text.operator.erase} isOpen onClose={onClose}>
      {erasure.data ? (
        <>
          <p role="status">{text.operator.erased(erasure.data.tillCount)}</p>
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
