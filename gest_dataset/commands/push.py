"""`gest push`: configs to a dataset on the Hub, and metrics to Spaces."""

from typing import TYPE_CHECKING

from gest_dataset.commands.console import err, out, show_table

if TYPE_CHECKING:
    from gest_dataset.hub.push import Plan


def run(
    repo: str,
    config: str | None = None,
    metrics: bool = False,
    create_pr: bool = False,
    private: bool = False,
    revision: str | None = None,
    dry_run: bool = False,
) -> None:
    arguments = locals()

    from huggingface_hub.utils import disable_progress_bars  # type: ignore[attr-defined]

    from gest_dataset.hub.push import push

    if not err.is_terminal:
        disable_progress_bars()
    for plan, committed in push(**arguments, on_plan=_show):
        if not plan.has_changes and not committed.made:
            err.print(f"No changes in {plan.repo}, so there is no commit. {committed.url}")
        elif dry_run:
            err.print(f"Dry run: nothing was changed in {plan.repo.id}.")
        else:
            err.print(str(committed))


def _show(plan: "Plan") -> None:
    out.print(f"Push to {plan.repo}{' (new)' if plan.missing else ''}:")
    show_table("", ("part", "status"), plan.parts.items())
    if plan.unaffected:
        out.print(f"Unaffected: {', '.join(plan.unaffected)}")
    if plan.default:
        out.print(f"Default config: {plan.default}")
