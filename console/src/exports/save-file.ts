/** Files that are larger are written to the disk as they arrive, where the browser offers it. */
const maxBytesInMemory = 16_000_000;

interface SavedFile {
  name: string;
  bytes: number;
  /** Requests the file. Called after the reader has chosen where to save it. */
  open: () => Promise<ReadableStream<Uint8Array> | null>;
  onProgress: (receivedBytes: number) => void;
}

type SaveFilePicker = (options: { suggestedName: string }) => Promise<{
  createWritable(): Promise<WritableStream<Uint8Array>>;
}>;

/**
 * Saves a file that is requested with the API key, which a link cannot send. Returns whether it is saved: false if the
 * reader chose no place for it. @throws the error of the request, or of writing to the disk
 */
export async function saveFile({ name, bytes, open, onProgress }: SavedFile): Promise<boolean> {
  const { showSaveFilePicker } = window as { showSaveFilePicker?: SaveFilePicker };
  if (bytes <= maxBytesInMemory || showSaveFilePicker === undefined) {
    const body = countBytes(await open(), onProgress);
    saveBlob(name, await new Response(body).blob());
    return true;
  }
  // Asked first, because browsers allow the question only right after a press of the button.
  const file = await showSaveFilePicker({ suggestedName: name }).catch((error: unknown) => {
    if (error instanceof DOMException && error.name === "AbortError") return null;
    throw error;
  });
  if (file === null) return false;
  const body = countBytes(await open(), onProgress);
  await body.pipeTo(await file.createWritable());
  return true;
}

function countBytes(
  body: ReadableStream<Uint8Array> | null,
  onProgress: (receivedBytes: number) => void,
): ReadableStream<Uint8Array> {
  let received = 0;
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      received += chunk.byteLength;
      onProgress(received);
      controller.enqueue(chunk);
    },
  });
  return (body ?? new Blob().stream()).pipeThrough(counter);
}

/** How long the browser needs at most to start saving a file. The file is in memory until then. */
const saveStartMs = 60_000;

function saveBlob(name: string, blob: Blob): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), saveStartMs);
}
