"""`netwright launch`: the job file of a run on several machines."""

from pathlib import Path
from typing import Annotated

import typer

from netwright.apps.cli.typed_recipe import typed_recipe


def launch(
    recipe: Annotated[
        Path, typer.Argument(help="A recipe file, as --print-config writes it, or a ready recipe.")
    ],
    cluster: Annotated[
        str, typer.Option("--for", help="torchrun, slurm or kubernetes.", metavar="CLUSTER")
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            help="The run folder, which all machines share; default: beside the recipe, "
            "or here for a ready one."
        ),
    ] = None,
    nodes: Annotated[int, typer.Option(help="Machines.")] = 2,
    nproc: Annotated[int, typer.Option(help="Processes per machine, one for each GPU.")] = 8,
    restarts: Annotated[
        int, typer.Option(help="Restarts of the group from its newest good checkpoint.")
    ] = 3,
    port: Annotated[int, typer.Option(help="Port at which the processes meet.")] = 29500,
    interface: Annotated[
        str | None,
        typer.Option(help="Network interface for the traffic between processes, as in eth0."),
    ] = None,
) -> None:
    """Print the job file that trains a recipe on several machines.

    netwright launch gpt.yaml --for torchrun --nodes 2 --nproc 8
    netwright launch gpt.yaml --for slurm --out /shared/runs/gpt > job.sbatch
    netwright launch gpt.yaml --for kubernetes --nodes 4 > job.yaml

    Data lies on the machines where it lies here, also that of NETWRIGHT_DATA.
    """
    from netwright.core.checks import nearest
    from netwright.core.errors import UnknownNameError
    from netwright.core.terminal.console import print_data
    from netwright.data.files.locations import search_path
    from netwright.recipes.plan.job_file import CLUSTERS, Job
    from netwright.recipes.plan.recipe import parse_recipe
    from netwright.recipes.plan.recipe_paths import files_of, published_name
    from netwright.recipes.ready.catalog import names_ready

    found = next((write for name, write in CLUSTERS.items() if name == cluster), None)
    if found is None:
        hint = nearest(cluster, CLUSTERS) or f"; there are {', '.join(CLUSTERS)}"
        raise UnknownNameError(f"unknown cluster {cluster!r}{hint}")
    # Refused here rather than on every machine.
    config = parse_recipe(typed_recipe([recipe], None, None, None, [], {}, {})).to_mapping()
    ready = names_ready(recipe.as_posix())
    published = published_name(config)
    job = Job(
        recipe=recipe if ready else recipe.resolve(),
        out=(out or Path(recipe.name if ready else recipe.with_suffix(""))).resolve(),
        ready=ready,
        nodes=nodes,
        processes=nproc,
        restarts=restarts,
        port=port,
        interface=interface,
        files=files_of(config),
        published=published,
        libraries=tuple(folder.resolve() for folder in search_path()) if published else (),
    )
    print_data(found(job), end="")
