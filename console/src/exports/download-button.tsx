import type { AdminApiClient } from "@pragma/client/api-client";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { useFormats, useSession } from "../session/session-context.tsx";
import { text } from "../text/text.ts";
import { Button } from "../ui/button.tsx";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { saveFile } from "./save-file.ts";

export interface DownloadButtonProps {
  name: string;
  /** The size of the file. */
  bytes: number;
  /** The text of the button. A table names the file beside it. */
  label?: string;
  open: (api: AdminApiClient) => Promise<{ data: ReadableStream<Uint8Array> | null }>;
}

/** Saves a file, and shows how much of it has arrived. */
export function DownloadButton({ name, bytes, label = text.exports.download, open }: DownloadButtonProps) {
  const { api } = useSession();
  const { share } = useFormats();
  const [received, setReceived] = useState(0);
  const download = useMutation({
    mutationFn: () => saveFile({ name, bytes, open: async () => (await open(api)).data, onProgress: setReceived }),
  });
  return (
    <>
      <Button
        isPending={download.isPending}
        onPress={() => {
          setReceived(0);
          download.mutate();
        }}
        aria-label={text.exports.downloadOf(name)}
      >
        {label}
      </Button>
      <span role="status" className="muted">
        {download.isPending && bytes > 0 && text.exports.downloading(share(Math.min(1, received / bytes)))}
        {download.data === true && text.exports.downloaded}
      </span>
      {download.error && <ErrorNotice error={download.error} />}
    </>
  );
}
