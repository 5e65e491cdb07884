import subprocess
import sys

CODE = """
import sys, time
began = time.process_time()
{}
print(time.process_time() - began, "clinic_developer.models" in sys.modules)
"""


def test_importing_the_client_takes_little_longer_than_httpx(capsys):
    def seconds(statement):
        used, models = subprocess.run([sys.executable, "-c", CODE.format(statement)], capture_output=True, text=True, check=True).stdout.split()
        assert models == "False"
        return float(used)

    # The shortest of several: other programs on the machine only add to it.
    pairs = [(seconds("import httpx"), seconds("from clinic_developer import Client")) for _ in range(10)]
    httpx, client = (min(times) for times in zip(*pairs))
    with capsys.disabled():
        print(f"\nimport httpx {httpx * 1000:.0f} ms, clinic_developer {client * 1000:.0f} ms: {client / httpx:.2f} times")
    assert client < 1.3 * httpx


def test_lists_the_clients_for_completion():
    import clinic_developer

    assert {"AsyncClient", "Client"} <= set(dir(clinic_developer))
