import type { FormEvent } from "react";
import { useApiChange } from "../api/use-api-change.ts";
import { text } from "../text/text.ts";
import { Button, ButtonLink } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { TextField } from "./text-field.tsx";

export function CreateConsumerDialog({ onClose }: { onClose: () => void }) {
  const creation = useApiChange((api, name: string) => api.POST("/v1/consumers", { body: { name } }));
  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    creation.mutate(String(new FormData(event.currentTarget).get("name")).trim());
  }
  return (
    <Dialog title={text.operator.createConsumer} isOpen onClose={onClose}>
      {creation.data ? (
        <>
          <p role="status">{text.operator.createdConsumer(creation.data.name)}</p>
          <p>
            <code>{creation.data.scopes.join(", ")}</code>
          </p>
          <div className="actions actions-end">
            <Button onPress={onClose}>{text.dialog.done}</Button>
            <ButtonLink variant="primary" to="/keys">
              {text.operator.createKey}
            </ButtonLink>
          </div>
        </>
      ) : (
        <form className="form" onSubmit={submit}>
          <p>{text.operator.createConsumerHint}</p>
          <TextField label={text.operator.name} name="name" minLength={2} maxLength={255} />
          {creation.error && <ErrorNotice error={creation.error} />}
          <div className="actions actions-end">
            <Button onPress={onClose}>{text.dialog.cancel}</Button>
            <Button type="submit" variant="primary" isPending={creation.isPending}>
              {text.operator.createConsumer}
            </Button>
          </div>
        </form>
      )}
    </Dialog>
  );
}
