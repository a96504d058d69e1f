import type { ApiSchemaTypes } from "@pragma/client";
import { type FormEvent, useRef } from "react";
import { useApiChange } from "../api/use-api-change.ts";
import { initialScopes, readScopes, type Scope, ScopeFields } from "../keys/scope-fields.tsx";
import { ScopeList } from "../keys/scope-list.tsx";
import { text } from "../text/text.ts";
import { Button, ButtonLink } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { TextField } from "../ui/text-field.tsx";

/** Creates a consumer with the chosen scopes. */
export function CreateConsumerDialog({ onClose }: { onClose: () => void }) {
  // If the scopes are rejected, the next attempt uses the consumer that was created already.
  const created = useRef<ApiSchemaTypes["Consumer"] | null>(null);
  const creation = useApiChange(async (api, { name, scopes }: { name: string; scopes: Scope[] }) => {
    if (created.current?.name !== name) created.current = (await api.POST("/v1/consumers", { body: { name } })).data;
    const params = { path: { id: created.current.id } };
    return api.PATCH("/v1/consumers/{id}", { params, body: { scopes } });
  });
  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    creation.mutate({ name: String(form.get("name")).trim(), scopes: readScopes(form) });
  }
  return (
    <Dialog title={text.operator.createConsumer} isOpen onClose={onClose}>
      {creation.data ? (
        <>
          <p role="status">{text.operator.createdConsumer(creation.data.name)}</p>
          <ScopeList scopes={creation.data.scopes} />
          <div className="actions actions-end">
            <Button onPress={onClose}>{text.dialog.done}</Button>
            <ButtonLink variant="primary" to="/keys" search={{ create: "key" }}>
              {text.operator.createKey}
            </ButtonLink>
          </div>
        </>
      ) : (
        <form className="form" onSubmit={submit}>
          <p>{text.operator.createConsumerHint}</p>
          <TextField label={text.operator.name} name="name" minLength={2} maxLength={255} />
          <ScopeFields selected={initialScopes} />
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
