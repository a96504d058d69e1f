import { type ReactNode, useEffect, useRef, useState } from "react";
import styles from "./styles.module.css";

/** A shorter hidden part is only a rounding difference. */
const maxUnmarkedPixels = 4;

interface Props {
  /** Called when the reader wants to see all of the code. Absent if the frame shows all of it already. */
  onShowAll?: (() => void) | undefined;
  children: ReactNode;
}

/** Renders a frame that scrolls. If it hides a part of its content, it fades at the bottom and has a "Show all" button. */
export function CutCode({ onShowAll, children }: Props): ReactNode {
  const frame = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const [isCut, setIsCut] = useState(false);

  useEffect(() => {
    const { current: outer } = frame;
    const { current: inner } = content;
    if (outer === null || inner === null) return;
    const update = () => setIsCut(outer.scrollHeight - outer.clientHeight - outer.scrollTop > maxUnmarkedPixels);
    const observer = new ResizeObserver(update);
    observer.observe(outer);
    observer.observe(inner);
    outer.addEventListener("scroll", update, { passive: true });
    return () => {
      observer.disconnect();
      outer.removeEventListener("scroll", update);
    };
  }, []);

  return (
    <>
      <div ref={frame} className={styles.scroll}>
        <div ref={content}>{children}</div>
      </div>
      {isCut && onShowAll && (
        <div className={styles.cut}>
          <button type="button" onClick={onShowAll}>
            Show all
          </button>
        </div>
      )}
    </>
  );
}
