import type { ReactNode } from "react";
import { text } from "../text/text.ts";
import { Button } from "../ui/button.tsx";
import { CopyButton } from "../ui/copy-button.tsx";

interface NewKeyProps {
  apiKey: string;
  onDone: () => void;
  /** What the reader must know about the key. */
  children: ReactNode;
}

/** The end of a dialog that received a key from the API. The key is shown only here. */
export const NewKey = ({ apiKey, onDone, children }: NewKeyProps) => (
  <>
    <p role="status">{children}</p>
    <div className="notice notice-warning">
      <p>{text.keys.once}</p>
      <p>
        <code className="secret">{apiKey}</code>
      </p>
      <CopyButton variant="secondary" value={apiKey} label={text.keys.copy} />
    </div>
    <div className="actions actions-end">
      <Button variant="primary" onPress={onDone}>
        {text.dialog.done}
      </Button>
    </div>
  </>
);
