import type { ReactNode } from "react";
import { text } from "../text/text.ts";
import { Button } from "../ui/button.tsx";
import { ShownSecret } from "../ui/shown-secret.tsx";

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
    <ShownSecret secret={apiKey} hint={text.keys.once} copyLabel={text.keys.copy} />
    <div className="actions actions-end">
      <Button variant="primary" onPress={onDone}>
        {text.dialog.done}
      </Button>
    </div>
  </>
);
