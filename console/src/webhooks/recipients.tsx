import type { ApiSchemaTypes } from "@pragma/client";
import { useState } from "react";
import { useApi } from "../api/use-api.ts";
import { useApiChange } from "../api/use-api-change.ts";
import { text } from "../text/text.ts";
import { Button } from "../ui/button.tsx";
import { CopyRequest } from "../ui/copy-button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { Ago, Moment } from "../ui/moment.tsx";
import { Section } from "../ui/section.tsx";
import { WebhookSecret } from "./create-webhook-dialog.tsx";

type Recipient = ApiSchemaTypes["Recipient"];

/** The recipients of messages, and the rotation of their secrets. A sandbox that is being filled gets one later. */
export function Recipients({ sandboxState }: { sandboxState: ApiSchemaTypes["Sandbox"]["state"] | undefined }) {
  const [rotated, setRotated] = useState<Recipient | null>(null);
  const query = useApi(["recipients", sandboxState], (api) =>
    api.GET("/v1/recipients", { params: { query: { size: 100 } } }),
  );
  return (
    <Section title={text.webhooks.recipients} actions={<CopyRequest url={query.data?.url} />}>
      <Loaded query={query}>
        {({ data }) => (
          <>
            {data.length === 0 && sandboxState !== "filling" && <p className="empty">{text.webhooks.noRecipients}</p>}
            <ul className="cards">
              {data.map((recipient) => (
                <li key={recipient.id} className="card">
                  <div className="card-header">
                    <strong className="card-title">{recipient.name}</strong>
                    <Button onPress={() => setRotated(recipient)} aria-label={text.webhooks.rotateOf(recipient.name)}>
                      {text.webhooks.rotate}
                    </Button>
                  </div>
                  <Secrets recipient={recipient} />
                </li>
              ))}
            </ul>
          </>
        )}
      </Loaded>
      {rotated && <RotateDialog recipient={rotated} onClose={() => setRotated(null)} />}
    </Section>
  );
}

/** The secrets that sign messages now, and when previous ones stop to. */
const Secrets = ({ recipient: { secrets } }: { recipient: Recipient }) => (
  <ul className="card-meta">
    {secrets.map(({ createdAt, expiresAt }) => (
      <li key={createdAt}>
        {text.webhooks.secretSince} <Moment at={createdAt} />
        {expiresAt !== null && (
          <>
            {" "}
            · {text.webhooks.secretEnds} <Ago at={expiresAt} />
          </>
        )}
      </li>
    ))}
  </ul>
);

function RotateDialog({ recipient, onClose }: { recipient: Recipient; onClose: () => void }) {
  const [isLeaked, setIsLeaked] = useState(false);
  const rotation = useApiChange((api, body: { isLeaked: boolean }) =>
    api.POST("/v1/recipients/{id}/rotate", { params: { path: { id: recipient.id } }, body }),
  );
  return (
    <Dialog title={text.webhooks.rotateOf(recipient.name)} isOpen onClose={onClose}>
      {rotation.data ? (
        <>
          {rotation.data.signingSecret !== null && <WebhookSecret secret={rotation.data.signingSecret} />}
          <Secrets recipient={rotation.data} />
          <Button variant="primary" onPress={onClose}>
            {text.dialog.done}
          </Button>
        </>
      ) : (
        <>
          <p>{text.webhooks.rotateHint}</p>
          <label className="checkbox">
            <input type="checkbox" checked={isLeaked} onChange={({ target }) => setIsLeaked(target.checked)} />
            {text.webhooks.leaked}
          </label>
          {rotation.error && <ErrorNotice error={rotation.error} />}
          <div className="actions actions-end">
            <Button onPress={onClose}>{text.dialog.cancel}</Button>
            <Button variant="danger" isPending={rotation.isPending} onPress={() => rotation.mutate({ isLeaked })}>
              {text.webhooks.rotate}
            </Button>
          </div>
        </>
      )}
    </Dialog>
  );
}
