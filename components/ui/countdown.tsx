/** `4:05`, or `1:02:09` from an hour on; never below zero. */
export function clockFace(seconds: number): string {
  const left = Math.max(0, Math.floor(seconds));
  const two = (value: number) => String(value).padStart(2, "0");
  const [h, m, s] = [Math.floor(left / 3600), Math.floor(left / 60) % 60, left % 60];
  return h > 0 ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`;
}

/** Time left for the eye; what is read out comes from the message area, at a few moments only. */
export function Countdown({ seconds, className }: { seconds: number; className?: string }) {
  return (
    <span aria-hidden="true" dir="ltr" className={`digits ${className ?? ""}`}>
      {clockFace(seconds)}
    </span>
  );
}
