"""Texts of the morning in other scripts: wide ones, right-to-left ones, combining marks and emoji of several code points."""

from __future__ import annotations

TEXTS = {
    "checkout totals": "结账总额 checkout",
    "search relevance": "検索の関連性 🔎",
    "docs site": "문서 사이트 📚",
    "queue migration": "ترحيل قائمة الانتظار",
    "auth rewrite": "שכתוב האימות",
    "flaky tests": "te\u0301sts ve\u0301rifie\u0301s ✅",
    "Publish 3 commits to origin/main": "把 3 个提交发布到 origin/main 🚀",
    "Run npm i left-pad": "npm i left-pad を実行する",
    "Run npm i pad-start": "npm i pad-start を実行する 👩‍💻",
    "Keep the old URL alive?": "이전 URL을 유지할까요? 🤔",
    "redirect it for a year": "1년 동안 리디렉션",
    "let it go": "그만 유지",
    "12 sites link to it": "12개 사이트가 연결합니다",
    "release the fix": "发布修复 🏷️",
    "rank by recency": "新しい順に並べる",
    "everything on the branch is proved; customers see the wrong total": "分支上的一切都已证明；客户看到错误的总额",
    "Totals must count quantity; the cart page and the API agree.": "总额必须计入数量；购物车页面与 API 一致。",
    "all tests pass": "所有测试通过",
    "API and page agree on 40 carts": "API 与页面在 40 个购物车上一致",
    "released on main": "已在 main 上发布",
    "reproduce the wrong total": "重现错误的总额",
    "failing test": "失败的测试 ⚠️",
    "multiply by quantity": "乘以数量 ×",
    "drop the cached line total": "去掉缓存的行总额",
    "update the changelog": "更新日志 📝",
    "the box has no network for packages": "箱の中からパッケージは取れません",
    "the laptop slept past its deadline": "המחשב ישן מעבר למועד",
    "Run pytest -x": "运行 pytest -x",
    "the test database only": "仅限测试数据库",
    "Delete legacy/?": "legacy/ 를 삭제할까요?",
    "keep until May": "5월까지 유지",
    "The plan for search relevance: 9 todos": "検索の計画：9 件",
    "sign out": "התנתקות",
}


def in_other_scripts(text: str) -> str:
    """The text in another script where there is one, else as it is."""
    return TEXTS.get(text, text)
