import { useState } from "react";
import { formatCurl } from "../api/curl.ts";
import { text } from "../text/text.ts";
import { Button } from "./button.tsx";

interface CopyButtonProps {
  value: string;
  label: string;
  /** `secondary` for what the reader must not forget to copy. */
  variant?: "quiet" | "secondary";
}

/** Copies a text. The label states that it is copied, which screen readers announce. */
export function CopyButton({ value, label, variant = "quiet" }: CopyButtonProps) {
  const [result, setResult] = useState<"copied" | "failed" | null>(null);
  async function copy() {
    const outcome = await navigator.clipboard.writeText(value).then(
      () => "copied" as const,
      () => "failed" as const,
    );
    setResult(outcome);
    setTimeout(() => setResult(null), 3_000);
  }
  return (
    <>
      <Button variant={variant} onPress={() => void copy()}>
        {result === "copied" ? text.copy.copied : label}
      </Button>
      <span role="status" className={result === "failed" ? "field-error" : "visually-hidden"}>
        {result === "copied" && text.copy.copied}
        {result === "failed" && text.copy.failed}
      </span>
    </>
  );
}

/** Copies a command that sends the request whose response the view shows. Absent until there is a response. */
export const CopyRequest = ({ url, label = text.copy.request }: { url: string | undefined; label?: string }) =>
  url === undefined ? null : <CopyButton label={label} value={formatCurl(url)} />;
