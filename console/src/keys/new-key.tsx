import { text } from "../text/text.ts";
import { CopyButton } from "../ui/copy-button.tsx";

/** A key that the API returned, which is shown only here. */
export const NewKey = ({ apiKey }: { apiKey: string }) => (
  <div className="notice notice-warning">
    <p>{text.keys.once}</p>
    <p>
      <code className="secret">{apiKey}</code>
    </p>
    <CopyButton value={apiKey} label={text.keys.copy} />
  </div>
);
