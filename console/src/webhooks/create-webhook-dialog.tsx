import type { ApiSchemaTypes } from "@pragma/client";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useId, useRef } from "react";
import { useApi } from "../api/use-api.ts";
import { useApiChange } from "../api/use-api-change.ts";
import { subscribableEvents } from "../text/choices.ts";
import { text } from "../text/text.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { ShownSecret } from "../ui/shown-secret.tsx";

interface CreateWebhookDialogProps {
  isOpen: boolean;
  onClose: () => void;
}

interface NewWebhook {
  /** The ID of a recipient; null for a new one. */
  recipientId: string | null;
  endpointUrl: string;
  events: (typeof subscribableEvents)[number][];
}

/** Creates a webhook and, unless an existing one is chosen, its recipient, whose secret is shown once. */
export function CreateWebhookDialog({ isOpen, onClose }: CreateWebhookDialogProps) {
  const navigate = useNavigate();
  // If the webhook is rejected, the next attempt uses the same recipient, whose secret is known only here.
  const newRecipient = useRef<ApiSchemaTypes["RecipientWithSecret"] | null>(null);
  const creation = useApiChange(async (api, { recipientId, endpointUrl, events }: NewWebhook) => {
    if (recipientId === null && newRecipient.current === null)
      newRecipient.current = (await api.POST("/v1/recipients", { body: { name: new URL(endpointUrl).host } })).data;
    const created = recipientId === null ? newRecipient.current : null;
    const body = { recipientId: created?.id ?? recipientId ?? "", endpointUrl, events };
    const { data: webhook } = await api.POST("/v1/webhooks", { body });
    return { data: { webhook, secret: created?.signingSecret ?? null } };
  });
  function close() {
    const webhookId = creation.data?.webhook.id;
    creation.reset();
    if (webhookId !== undefined) newRecipient.current = null;
    onClose();
    if (webhookId !== undefined) void navigate({ to: "/webhooks/$id", params: { id: webhookId } });
  }
  return (
    <Dialog title={text.webhooks.create} isOpen={isOpen} onClose={close}>
      {creation.data ? (
        <>
          <p role="status">{text.webhooks.created(creation.data.webhook.endpointUrl)}</p>
          {creation.data.secret === null ? (
            <p>{text.webhooks.existingSecret}</p>
          ) : (
            <WebhookSecret secret={creation.data.secret} />
          )}
          <Button variant="primary" onPress={close}>
            {text.webhooks.openCreated}
          </Button>
        </>
      ) : (
        <WebhookForm
          onSubmit={creation.mutate}
          isPending={creation.isPending}
          error={creation.error}
          onCancel={close}
        />
      )}
    </Dialog>
  );
}

export const WebhookSecret = ({ secret }: { secret: string }) => (
  <ShownSecret secret={secret} hint={text.webhooks.secretOnce} copyLabel={text.webhooks.copySecret} />
);

interface WebhookFormProps {
  onSubmit: (webhook: NewWebhook) => void;
  onCancel: () => void;
  isPending: boolean;
  error: unknown;
}

const defaultEvents: readonly string[] = ["order.paid", "report.finalized", "day.closed", "day.incomplete"];

function WebhookForm({ onSubmit, onCancel, isPending, error }: WebhookFormProps) {
  const id = useId();
  const recipients = useApi(["recipients"], (api) => api.GET("/v1/recipients", { params: { query: { size: 100 } } }));
  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    onSubmit({
      recipientId: String(form.get("recipient") ?? "") || null,
      endpointUrl: String(form.get("url")),
      events: subscribableEvents.filter((name) => form.getAll("events").includes(name)),
    });
  }
  return (
    <Loaded query={recipients}>
      {({ data }) => (
        <form className="form" onSubmit={submit}>
          <div className="field">
            <label htmlFor={`${id}-url`}>{text.webhooks.url}</label>
            <input id={`${id}-url`} name="url" type="url" required placeholder="https://example.com/webhooks" />
          </div>
          <div className="field">
            <label htmlFor={`${id}-recipient`}>{text.webhooks.recipient}</label>
            {/* The first choice has a secret that the reader gets. That of another recipient may be unknown to them. */}
            <select id={`${id}-recipient`} name="recipient" aria-describedby={`${id}-hint`}>
              <option value="">{text.webhooks.newRecipient}</option>
              {data.map((recipient) => (
                <option key={recipient.id} value={recipient.id}>
                  {recipient.name}
                </option>
              ))}
            </select>
            <p className="hint" id={`${id}-hint`}>
              {text.webhooks.recipientHint}
            </p>
          </div>
          <fieldset>
            <legend>{text.webhooks.events}</legend>
            {subscribableEvents.map((name) => (
              <label key={name} className="checkbox">
                <input type="checkbox" name="events" value={name} defaultChecked={defaultEvents.includes(name)} />
                <code>{name}</code>
              </label>
            ))}
          </fieldset>
          {error !== null && <ErrorNotice error={error} />}
          <div className="actions actions-end">
            <Button onPress={onCancel}>{text.dialog.cancel}</Button>
            <Button type="submit" variant="primary" isPending={isPending}>
              {text.webhooks.create}
            </Button>
          </div>
        </form>
      )}
    </Loaded>
  );
}
