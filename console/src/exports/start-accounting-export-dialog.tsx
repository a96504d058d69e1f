import type { ApiSchemaTypes } from "@pragma/client";
import type { AdminApiClient } from "@pragma/client/api-client";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useId, useRef, useState } from "react";
import { useApi } from "../api/use-api.ts";
import { useApiChange } from "../api/use-api-change.ts";
import type { Formats } from "../format/formats.ts";
import { useFormats } from "../session/session-context.tsx";
import { accountingProviders } from "../text/choices.ts";
import { text } from "../text/text.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { ExportedDays, readExportedDays } from "./exported-days.tsx";

interface NewAccountingExport {
  /** The ID of the config; null to create one with default accounts. */
  configId: string | null;
  newConfigName: string;
  provider: (typeof accountingProviders)[number];
  since: string;
  until: string;
}

/** The maximum number of tills in an export. */
const maxTills = 500;

interface StartAccountingExportDialogProps {
  since: string | undefined;
  until: string | undefined;
  onClose: () => void;
}

/** Starts an accounting export of the tills of days, and opens it. */
export function StartAccountingExportDialog({ since, until, onClose }: StartAccountingExportDialogProps) {
  const navigate = useNavigate();
  const formats = useFormats();
  const configs = useApi(["accounting configs"], (api) =>
    api.GET("/v1/accounting/configs", { params: { query: { size: 100 } } }),
  );
  // If the export is rejected, the next attempt uses the config that was created already.
  const createdConfigId = useRef<string | null>(null);
  const start = useApiChange(async (api, { configId, newConfigName, provider, ...days }: NewAccountingExport) => {
    const tillIds = await listTills(api, days, formats);
    if (configId === null && createdConfigId.current === null)
      createdConfigId.current = (await api.POST("/v1/accounting/configs", { body: { name: newConfigName } })).data.id;
    const accountingConfigId = configId ?? createdConfigId.current ?? "";
    const body = tillIds.map((tillId) => ({ tillId, accountingConfigId, accountingProvider: provider }));
    return api.POST("/v1/accounting/exports", { body });
  });
  return (
    <Dialog title={text.accounting.start} isOpen onClose={onClose}>
      <Loaded query={configs}>
        {({ data }) => (
          <AccountingExportForm
            configs={data}
            since={since}
            until={until}
            isPending={start.isPending}
            error={start.error}
            onCancel={onClose}
            onSubmit={(input) =>
              start.mutate(input, {
                onSuccess: ({ id }) => void navigate({ to: "/exports/accounting/$id", params: { id } }),
              })
            }
          />
        )}
      </Loaded>
    </Dialog>
  );
}

/** Returns the IDs of the tills with a report on these business days. @throws Error if there are none or too many */
async function listTills(
  api: AdminApiClient,
  days: { since: string; until: string },
  { number }: Formats,
): Promise<string[]> {
  const tillIds: string[] = [];
  for await (const { data, meta } of api.pages("/v2/reports", { params: { query: days } })) {
    if (meta.totalCount > maxTills)
      throw new Error(text.accounting.tooManyTills(number(meta.totalCount), number(maxTills)));
    tillIds.push(...data.map(({ tillId }) => tillId));
  }
  if (tillIds.length === 0) throw new Error(text.accounting.noTills);
  return tillIds;
}

interface AccountingExportFormProps {
  configs: readonly ApiSchemaTypes["AccountingConfig"][];
  since: string | undefined;
  until: string | undefined;
  isPending: boolean;
  error: unknown;
  onCancel: () => void;
  onSubmit: (input: NewAccountingExport) => void;
}

function AccountingExportForm(props: AccountingExportFormProps) {
  const { configs, since, until, isPending, error, onCancel, onSubmit } = props;
  const id = useId();
  const { number } = useFormats();
  const [configId, setConfigId] = useState(configs[0]?.id ?? "");
  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    onSubmit({
      configId: configId || null,
      newConfigName: String(form.get("name") ?? "").trim(),
      provider: accountingProviders.find((name) => name === form.get("provider")) ?? accountingProviders[0],
      ...readExportedDays(form),
    });
  }
  return (
    <form className="form" onSubmit={submit}>
      <div className="field">
        <label htmlFor={`${id}-config`}>{text.accounting.config}</label>
        <select id={`${id}-config`} value={configId} onChange={({ target }) => setConfigId(target.value)}>
          {configs.map((config) => (
            <option key={config.id} value={config.id}>
              {config.name}
            </option>
          ))}
          <option value="">{text.accounting.newConfig}</option>
        </select>
      </div>
      {configId === "" && (
        <div className="field">
          <label htmlFor={`${id}-name`}>{text.accounting.newConfigName}</label>
          <input
            id={`${id}-name`}
            name="name"
            required
            maxLength={100}
            defaultValue={text.accounting.defaultConfigName}
          />
        </div>
      )}
      <div className="field">
        <label htmlFor={`${id}-provider`}>{text.accounting.provider}</label>
        <select id={`${id}-provider`} name="provider">
          {accountingProviders.map((name) => (
            <option key={name} value={name}>
              {text.accounting.providers[name]}
            </option>
          ))}
        </select>
      </div>
      <ExportedDays since={since} until={until} hint={text.accounting.tillsHint(number(maxTills))} />
      {error !== null && <ErrorNotice error={error} />}
      <div className="actions actions-end">
        <Button onPress={onCancel}>{text.dialog.cancel}</Button>
        <Button type="submit" variant="primary" isPending={isPending}>
          {text.accounting.start}
        </Button>
      </div>
    </form>
  );
}
