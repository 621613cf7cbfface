"""Django's own apps are migrated and used, and a view is a model."""

from __future__ import annotations

import io
import sys
from decimal import Decimal

import django
from django.conf import settings

APPS = "auth contenttypes sessions messages admin sites flatpages redirects"
CONTEXT = [
    "django.template.context_processors.request",
    "django.contrib.auth.context_processors.auth",
    "django.contrib.messages.context_processors.messages",
]
settings.configure(
    DATABASES={
        "default": {
            "ENGINE": "django.db.backends.postgresql",
            "HOST": "127.0.0.1",
            "PORT": sys.argv[1],
            "USER": "antumbra",
            "NAME": "antumbra",
        }
    },
    INSTALLED_APPS=[f"django.contrib.{name}" for name in APPS.split()],
    MIDDLEWARE=[
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
        "django.contrib.messages.middleware.MessageMiddleware",
    ],
    TEMPLATES=[
        {
            "BACKEND": "django.template.backends.django.DjangoTemplates",
            "OPTIONS": {"context_processors": CONTEXT},
        }
    ],
    PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    SECRET_KEY="none",
    SITE_ID=1,
    USE_TZ=True,
)
django.setup()

from django.contrib.auth import authenticate  # noqa: E402
from django.contrib.auth.models import Group, Permission, User  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.db import connection, models, transaction  # noqa: E402
from django.db.models import Count, F, Q, Sum  # noqa: E402
from django.db.models.functions import Concat, ExtractYear, Lower, TruncDay, TruncMonth  # noqa: E402


class Trip(models.Model):
    """A stream."""

    city = models.IntegerField(primary_key=True)
    fare = models.DecimalField(max_digits=12, decimal_places=2)

    class Meta:
        app_label, managed, db_table = "taxi", False, "trips"


class Fare(models.Model):
    """A continuous view."""

    city = models.IntegerField(primary_key=True)
    n = models.BigIntegerField()
    total = models.DecimalField(max_digits=12, decimal_places=2)

    class Meta:
        app_label, managed, db_table = "taxi", False, "fares"


def migrate() -> None:
    """Migrate twice; the second time there is nothing to do."""
    call_command("migrate", verbosity=0)
    out = io.StringIO()
    call_command("migrate", stdout=out, no_color=True)
    assert "No migrations to apply" in out.getvalue(), out.getvalue()
    call_command("check", databases=["default"])
    out = io.StringIO()
    call_command("inspectdb", stdout=out)
    assert "class AuthUser(models.Model)" in out.getvalue() and "Unable to inspect" not in out.getvalue()


def use_models() -> None:
    """Ask what Django's own apps and their administrators ask."""
    for number in range(5):
        User.objects.create(username=f"u{number}", email=f"U{number}@x", is_staff=number % 2 == 0)
    group = Group.objects.create(name="g")
    group.user_set.set(User.objects.filter(is_staff=True))
    group.permissions.set(Permission.objects.all()[:3])
    assert group.user_set.count() == 3 and group.permissions.count() == 3
    by_month = User.objects.annotate(m=TruncMonth("date_joined")).values("m").annotate(n=Count("id"))
    assert [row["n"] for row in by_month] == [5]
    assert User.objects.annotate(d=TruncDay("date_joined"), y=ExtractYear("d")).filter(y__gte=2000).count() == 5
    assert User.objects.filter(date_joined__date__gte="2000-01-01", date_joined__hour__gte=0).count() == 5
    assert len(User.objects.dates("date_joined", "month")) == len(User.objects.datetimes("date_joined", "year")) == 1
    assert User.objects.filter(username__icontains="U1").count() == 1
    assert User.objects.filter(username__iregex="^U[12]$", email__endswith="x").count() == 2
    assert User.objects.filter(email__icontains=F("username"), username__contains="%").count() == 0
    assert User.objects.filter(Q(username="u1") | Q(groups__name="g")).distinct().count() == 4
    assert User.objects.aggregate(n=Count("id", filter=Q(is_staff=True)), s=Sum(F("id") * 0 + 1.5)) == {
        "n": 3,
        "s": 7.5,
    }
    names = [Group(name=f"b{number}") for number in range(5)]
    Group.objects.bulk_create(names[:2])
    Group.objects.bulk_create(names, ignore_conflicts=True)
    Group.objects.bulk_create(names, update_conflicts=True, unique_fields=["name"], update_fields=["name"])
    assert Group.objects.filter(name__startswith="b").delete()[0] == 5
    assert User.objects.update(last_name=Concat("username", Lower("email"))) == 5
    with transaction.atomic():
        assert len(User.objects.select_for_update(skip_locked=True, of=("self",)).order_by("id")[:2]) == 2
    assert len(list(User.objects.iterator(2))) == 5
    assert User.objects.filter(id=1).explain() and User.objects.filter(id=1).explain(format="json")
    User.objects.create_superuser("root", "r@x", "word")
    assert authenticate(username="root", password="word") is not None
    call_command("clearsessions")


def use_view() -> None:
    """Insert into a stream and read the view over it."""
    with connection.cursor() as cursor:
        cursor.execute("CREATE FOREIGN TABLE trips (city int, fare numeric(10,2)) SERVER stream")
        cursor.execute("CREATE VIEW fares AS SELECT city, count(*) AS n, sum(fare) AS total FROM trips GROUP BY city")
    Trip.objects.create(city=1, fare="2.50")
    Trip.objects.bulk_create([Trip(city=1, fare=3), Trip(city=2, fare=4)])
    Trip.objects.bulk_create([Trip(city=3, fare=1)], ignore_conflicts=True)
    found = [(fare.city, fare.n, fare.total) for fare in Fare.objects.order_by("city")]
    assert found == [(1, 2, Decimal("5.50")), (2, 1, Decimal("4.00")), (3, 1, Decimal("1.00"))], found
    assert Fare.objects.filter(total__gt=1).aggregate(all=Sum("total")) == {"all": Decimal("9.50")}


def dump_and_load() -> None:
    """Dump all rows, empty the tables, load the rows, and undo migrations."""
    out = io.StringIO()
    call_command("dumpdata", stdout=out, verbosity=0)
    call_command("flush", interactive=False, verbosity=0)
    assert User.objects.count() == 0
    sys.stdin = io.StringIO(out.getvalue())
    call_command("loaddata", "-", format="json", verbosity=0)
    assert User.objects.count() == 6
    for app in ("admin", "flatpages", "sites"):
        call_command("migrate", app, "zero", verbosity=0)


migrate()
use_models()
use_view()
dump_and_load()
