import type { ReaderWords } from './en.ts';

/** In simplified characters. */
export const zh: ReaderWords = {
  notices: {
    notFound: { title: '未找到', text: '此文档中没有这个页面。它可能已被移动或重命名。' },
    nothingHere: { title: '未找到', text: '此地址没有文档。' },
    off: { title: '此文档已关闭', text: '请询问向您提供此地址的人。' },
    notReady: { title: '此文档尚未准备好', text: '请过几分钟再试。' },
    unavailable: { title: '目前无法显示此页面', text: '请稍后再试。' },
    badAddress: { title: '无法读取此地址', text: '其中有一个不代表任何字符的百分号。请检查链接的写法。' },
    longAddress: { title: '此地址过长', text: '请检查链接的写法。' },
    readOnly: { title: '此页面只能阅读', text: '不能向此地址发送任何内容。' },
    signIn: { title: '请登录以阅读此文档', text: '请重新加载页面以登录。' },
    notSignedIn: { title: '您尚未登录', text: '请通过您的组织提供的地址打开此文档。' },
    wrongPasswords: { title: '错误密码过多', text: '它们来自您的网络。请稍等片刻再试。' },
    noSignIn: { title: '目前无法登录', text: '请稍后再试。' },
    signInUnfinished: {
      title: '您还没有登录',
      text: '用时过长，或者登录是在另一个浏览器中开始的。请重新打开文档以登录。',
    },
    notAllowed: {
      title: '您无权阅读此文档',
      text: '您已登录，但您的账户不能阅读它。请询问向您提供此地址的人。',
    },
    stillSignedIn: { title: '您仍处于登录状态', text: '请重新打开此地址以退出登录。' },
    signOut: { title: '要退出登录吗？', text: '下次打开此文档时需要重新登录。', button: '退出登录' },
  },
  shelf: {
    title: '文档',
    findSite: '查找文档',
    searchAll: '搜索所有文档',
    find: '查找',
    empty: '这里还没有文档。',
    sites: '文档：{total} 个',
    matching: '文档：{total} 个中的 {count} 个',
    version: '版本',
    language: '语言',
    date: '日期',
    soon: '尚不可用',
    signIn: '登录以查看更多',
    inPages: '页面中的结果',
    found: '找到的页面：{count} 个',
    noneFound: '未找到页面',
    searchBusy: '目前搜索过多，请稍后再试',
    searchNotReady: '搜索尚未准备好，请稍后再试',
    searchAway: '搜索没有响应',
  },
};
